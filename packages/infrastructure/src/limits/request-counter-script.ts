import { type BanPolicy, DAY, MINUTE, MOST_SKEW } from '@adoption-store/domain';

const HELPERS = `
local MINUTE, DAY, MOST_SKEW = ${MINUTE}, ${DAY}, ${MOST_SKEW}
local NONE = '0,0,0,0'

local function numbersOf(text)
  local a, b, c, d = string.match(text, '(%d+),(%d+),(%d+),(%d+)')
  return tonumber(a), tonumber(b), tonumber(c), tonumber(d)
end

local function set(key, field, ...)
  redis.call('HSET', key, field, string.format('%.0f,%.0f,%.0f,%.0f', ...))
end

local function isCurrent(start, length, now)
  return now < start + length and start <= now + MOST_SKEW
end

-- Looks at three random fields and removes the ended ones, so its cost doesn't depend on their number. It runs for each
-- new field, so ended fields never become many more than the others.
local function sweep(key, now)
  local fields = redis.call('HRANDFIELD', key, 3, 'WITHVALUES')
  for at = 1, #fields, 2 do
    local refusedMinute, _, bannedAt, bannedUntil = numbersOf(fields[at + 1])
    local last = math.max(refusedMinute + MINUTE, bannedAt + DAY, bannedUntil)
    if fields[at] ~= 'usage' and last + 2 * MOST_SKEW <= now then redis.call('HDEL', key, fields[at]) end
  end
end

local seconds, microseconds = unpack(redis.call('TIME'))
local redisNow = seconds * 1000 + math.floor(microseconds / 1000)
`;

/**
 * The domain's `decideAdmission` (quota.ts) for several requesters, as one atomic step in Redis. A property test
 * (test/limits.counters.ts) compares the two over random histories of requests.
 *
 * - KEYS: one key for each requester, named by its account or address. The key holds everything that a decision needs,
 *   because a Redis Cluster refuses a script with two keys while it moves them (`TRYAGAIN`).
 * - ARGV: one string with five values for each requester: its API key (0 for an address), the number of its requests
 *   (0 only reads), now, perMinute and perDay. Times are Unix milliseconds. An argument for each costs more than its work.
 * - A key stores a hash. Its field `usage` has the numbers of `Usage`. Each API key with refusals or a ban has a field with
 *   the numbers of `Refusals`. Their order is that of quota.ts. A decision reads two fields, so its cost doesn't depend on
 *   how many API keys the account ever had.
 * - The result is JSON, an array of nine numbers for each requester: both fields as they were before its requests, and the
 *   time of the decision if it isn't `now`, otherwise 0. From these, `decideAdmission` computes the verdict on each request.
 *
 * If `now` differs from Redis' clock by more than `tolerance` milliseconds, Redis' clock decides. Otherwise an instance with
 * a wrong clock and the others would begin new windows in turn, and each would reset the other's counts.
 *
 * A key expires once nothing in it can affect a decision. That is set when a minute begins. Ended fields of a key that is
 * in use are removed a few at a time.
 */
export function requestCounterScript({ refusals, firstBan, longestBan }: BanPolicy, tolerance: number): string {
  // Of a write at the end of a minute, read by an instance whose clock is as much behind as two clocks may differ.
  const life = MINUTE + MOST_SKEW;
  return `${HELPERS}
-- Counts the requests of one requester. Returns both fields as they were before.
local function count(key, apiKey, requests, now, perMinute, perDay)
  local fields = redis.call('HMGET', key, 'usage', apiKey)
  local usageBefore, refusalsBefore = fields[1] or NONE, fields[2] or NONE
  local minuteStart, minuteUsed, dayStart, dayUsed = numbersOf(usageBefore)
  local refusedMinute, refusals, bannedAt, bannedUntil = numbersOf(refusalsBefore)
  local isBannable = apiKey ~= '0'
  local isNewMinute, isNewDay = not isCurrent(minuteStart, MINUTE, now), not isCurrent(dayStart, DAY, now)
  if isNewMinute then minuteStart, minuteUsed = now - now % MINUTE, 0 end
  if isNewDay then dayStart, dayUsed = now - now % DAY, 0 end
  local isUsageChanged = isNewMinute or isNewDay
  -- A ban from a clock that ran ahead is dropped.
  local isRefusalsChanged = bannedAt > now + MOST_SKEW
  if isRefusalsChanged then refusedMinute, refusals, bannedAt, bannedUntil = 0, 0, 0, 0 end
  for _ = 1, requests do
    if bannedUntil > now then break end
    if minuteUsed < perMinute and dayUsed < perDay then
      minuteUsed, dayUsed, isUsageChanged = minuteUsed + 1, dayUsed + 1, true
    elseif isBannable then
      isRefusalsChanged = true
      if not isCurrent(refusedMinute, MINUTE, now) then refusedMinute, refusals = now - now % MINUTE, 0 end
      refusals = refusals + 1
      if refusals >= ${refusals} then
        local length = ${firstBan}
        if bannedAt ~= 0 and now < bannedAt + DAY then length = 2 * (bannedUntil - bannedAt) end
        refusals, bannedAt, bannedUntil = 0, now, now + math.min(length, ${longestBan})
      end
    end
  end
  if requests > 0 and (isUsageChanged or isRefusalsChanged) then
    if isUsageChanged then set(key, 'usage', minuteStart, minuteUsed, dayStart, dayUsed) end
    if isRefusalsChanged then set(key, apiKey, refusedMinute, refusals, bannedAt, bannedUntil) end
    local hasNewField = isRefusalsChanged and refusalsBefore == NONE
    if isBannable and (isNewMinute or hasNewField) then sweep(key, now) end
    if isNewMinute then redis.call('PEXPIRE', key, isBannable and ${Math.max(DAY, longestBan) + life} or ${life}) end
  end
  return usageBefore, refusalsBefore
end

local all = {}
local place = 0
for apiKey, requests, at, perMinute, perDay in string.gmatch(ARGV[1], '(%S+) (%S+) (%S+) (%S+) (%S+)') do
  local now, other = tonumber(at), '0'
  if math.abs(now - redisNow) > ${tolerance} then now, other = redisNow, string.format('%.0f', redisNow) end
  place = place + 1
  local usage, refusals = count(KEYS[place], apiKey, tonumber(requests), now, tonumber(perMinute), tonumber(perDay))
  all[place] = usage .. ',' .. refusals .. ',' .. other
end
return '[[' .. table.concat(all, '],[') .. ']]'
`;
}
