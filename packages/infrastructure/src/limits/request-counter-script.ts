import { type BanPolicy, MOST_SKEW } from '@adoption-store/domain';

const HELPERS = `
local MINUTE, DAY, SPARE, MOST_SKEW = 60000, 86400000, 60000, ${MOST_SKEW}
local NUMBERS = '(%d+) (%d+) (%d+) (%d+)'

local function numbers(a, b, c, d)
  return tonumber(a or 0), tonumber(b or 0), tonumber(c or 0), tonumber(d or 0)
end

local function isCurrent(start, length, now)
  return now < start + length and start <= now + MOST_SKEW
end

-- The text of an API key's refusals, and until when they matter: a ban within a day of another is twice as long.
local function refusalsText(apiKey, now, refusedMinute, refusals, bannedAt, bannedUntil)
  local last = math.max(refusedMinute + MINUTE, bannedAt + DAY, bannedUntil)
  -- A day later than necessary, because the clock of another instance may be behind.
  if last + DAY <= now then return '', 0 end
  return string.format(' key:%s %.0f %.0f %.0f %.0f', apiKey, refusedMinute, refusals, bannedAt, bannedUntil), last
end

local seconds, microseconds = unpack(redis.call('TIME'))
local redisNow = seconds * 1000 + math.floor(microseconds / 1000)
`;

/**
 * The domain's `decide` (quota.ts) for several requesters, as one atomic step in Redis. A property test
 * (test/limits.counters.ts) compares the two over random histories of requests.
 *
 * KEYS: one for each requester, named by its account or address. The one key has everything that a decision needs,
 * because a Redis Cluster refuses a script with two keys while it moves them (`TRYAGAIN`).
 *
 * ARGV: five for each requester: its API key (empty for an address), the number of its requests (0 only reads), now,
 * perMinute and perDay. Times are Unix milliseconds.
 *
 * The stored value is text: the fields of Usage in the order of quota.ts, separated by spaces; then, for each API key
 * with refusals or a ban, ` key:ID ` and the fields of Refusals.
 *
 * Returns for each requester the value before its requests, and the time of the decision. From these, `decide` computes
 * the result of each request.
 *
 * Redis' clock replaces a `now` that differs from it by more than `tolerance` milliseconds. Otherwise an instance with
 * a wrong clock and the others would alternately begin new windows, and so reset each other's counts.
 *
 * The keys expire by themselves. The expiry is computed from `now`, because Redis' clock may differ. It is a minute
 * later than necessary, for instances whose clock is behind.
 */
export function requestCounterScript({ refusals, firstBan, longestBan }: BanPolicy, tolerance: number): string {
  return `${HELPERS}
local function count(key, apiKey, requests, now, perMinute, perDay)
  local held = redis.call('GET', key)
  local text = held or ''
  local minuteStart, minuteUsed, dayStart, dayUsed = numbers(string.match(text, NUMBERS))
  local others = string.find(text, 'key', 1, true)
  local refusedMinute, refusals, bannedAt, bannedUntil = 0, 0, 0, 0
  if others then
    refusedMinute, refusals, bannedAt, bannedUntil = numbers(string.match(text, ' key:' .. apiKey .. ' ' .. NUMBERS))
  end
  local isBannable, isChanged = apiKey ~= '', false
  if not isCurrent(minuteStart, MINUTE, now) then minuteStart, minuteUsed, isChanged = now - now % MINUTE, 0, true end
  if not isCurrent(dayStart, DAY, now) then dayStart, dayUsed, isChanged = now - now % DAY, 0, true end
  if bannedAt > now + MOST_SKEW then refusedMinute, refusals, bannedAt, bannedUntil, isChanged = 0, 0, 0, 0, true end
  for _ = 1, requests do
    if bannedUntil > now then break end
    if minuteUsed < perMinute and dayUsed < perDay then
      minuteUsed, dayUsed, isChanged = minuteUsed + 1, dayUsed + 1, true
    elseif isBannable then
      isChanged = true
      if not isCurrent(refusedMinute, MINUTE, now) then refusedMinute, refusals = now - now % MINUTE, 0 end
      refusals = refusals + 1
      if refusals >= ${refusals} then
        local length = ${firstBan}
        if bannedAt ~= 0 and now < bannedAt + DAY then length = 2 * (bannedUntil - bannedAt) end
        refusals, bannedAt, bannedUntil = 0, now, now + math.min(length, ${longestBan})
      end
    end
  end
  if requests == 0 or not isChanged then return held end
  local last = isBannable and dayStart + DAY or minuteStart + MINUTE
  local parts = { string.format('%.0f %.0f %.0f %.0f', minuteStart, minuteUsed, dayStart, dayUsed) }
  local function keep(...)
    local part, till = refusalsText(...)
    parts[#parts + 1], last = part, math.max(last, till)
  end
  if bannedAt + refusedMinute > 0 then keep(apiKey, now, refusedMinute, refusals, bannedAt, bannedUntil) end
  if others then
    for other, a, b, c, d in string.gmatch(text, ' key:(%d+) ' .. NUMBERS) do
      if other ~= apiKey then keep(other, now, numbers(a, b, c, d)) end
    end
  end
  redis.call('SET', key, table.concat(parts), 'PX', last - now + SPARE)
  return held
end

local all = {}
for at = 1, #KEYS do
  local apiKey, requests, now, perMinute, perDay = unpack(ARGV, 5 * at - 4, 5 * at)
  now = tonumber(now)
  if math.abs(now - redisNow) > ${tolerance} then now = redisNow end
  all[2 * at - 1] = count(KEYS[at], apiKey, tonumber(requests), now, tonumber(perMinute), tonumber(perDay))
  all[2 * at] = now
end
return all
`;
}
