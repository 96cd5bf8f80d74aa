import { type BanPolicy, MOST_SKEW } from '@adoption-store/domain';

/**
 * The domain's `decide` (quota.ts) for several requesters, as one atomic step in Redis. The contract suite compares the
 * two.
 *
 * KEYS: two for each requester, the usage of its account or address, and the refusals of its API key (empty for an
 * address). ARGV: four for each requester, the number of its requests (0 only reads), now, perMinute and perDay. Times
 * are Unix milliseconds. Usage and Refusals are stored as text: their fields in the order of quota.ts, separated by spaces.
 * Returns for each requester the two stored texts before its requests, and the time of the decision; `decide` derives
 * the result of each request from them.
 *
 * Redis' clock replaces a `now` that differs from it by more than `tolerance` milliseconds. Otherwise an instance whose
 * clock is wrong and the others would take turns in beginning new windows.
 *
 * The keys expire by themselves. The expiry is computed from `now`, because Redis' clock may differ, and is a minute
 * late, for instances whose clock is behind.
 */
export function requestCounterScript({ refusals, firstBan, longestBan }: BanPolicy, tolerance: number): string {
  return `
local MINUTE, DAY, SPARE, MOST_SKEW = 60000, 86400000, 60000, ${MOST_SKEW}

local function read(text)
  local a, b, c, d = string.match(text or '0 0 0 0', '(%d+) (%d+) (%d+) (%d+)')
  return tonumber(a), tonumber(b), tonumber(c), tonumber(d)
end

local function write(key, expiry, ...)
  redis.call('SET', key, string.format('%.0f %.0f %.0f %.0f', ...), 'PX', expiry + SPARE)
end

local function isCurrent(start, length, now)
  return now < start + length and start <= now + MOST_SKEW
end

local function count(usageKey, refusalsKey, requests, now, perMinute, perDay)
  local held = redis.call('MGET', usageKey, refusalsKey)
  local minuteStart, minuteUsed, dayStart, dayUsed = read(held[1])
  local refusedMinute, refusals, bannedAt, bannedUntil = read(held[2])
  local isBannable, isCounted, isRefused = refusalsKey ~= '', false, false
  if not isCurrent(minuteStart, MINUTE, now) then minuteStart, minuteUsed, isCounted = now - now % MINUTE, 0, true end
  if not isCurrent(dayStart, DAY, now) then dayStart, dayUsed, isCounted = now - now % DAY, 0, true end
  if bannedAt > now + MOST_SKEW then refusedMinute, refusals, bannedAt, bannedUntil, isRefused = 0, 0, 0, 0, true end
  for _ = 1, requests do
    if bannedUntil > now then break end
    if minuteUsed < perMinute and dayUsed < perDay then
      minuteUsed, dayUsed, isCounted = minuteUsed + 1, dayUsed + 1, true
    elseif isBannable then
      isRefused = true
      if not isCurrent(refusedMinute, MINUTE, now) then refusedMinute, refusals = now - now % MINUTE, 0 end
      refusals = refusals + 1
      if refusals >= ${refusals} then
        local length = ${firstBan}
        if bannedAt ~= 0 and now < bannedAt + DAY then length = 2 * (bannedUntil - bannedAt) end
        refusals, bannedAt, bannedUntil = 0, now, now + math.min(length, ${longestBan})
      end
    end
  end
  if requests == 0 then return held end
  if isCounted then
    local expiry = (isBannable and dayStart + DAY or minuteStart + MINUTE) - now
    write(usageKey, expiry, minuteStart, minuteUsed, dayStart, dayUsed)
  end
  if isRefused then
    -- A ban within a day of another is twice as long.
    local expiry = math.max(now, refusedMinute + MINUTE, bannedAt + DAY, bannedUntil) - now
    write(refusalsKey, expiry, refusedMinute, refusals, bannedAt, bannedUntil)
  end
  return held
end

local seconds, microseconds = unpack(redis.call('TIME'))
local redisNow = seconds * 1000 + math.floor(microseconds / 1000)

local all = {}
for at = 1, #KEYS, 2 do
  local requests, now, perMinute, perDay = unpack(ARGV, 2 * at - 1, 2 * at + 2)
  now = tonumber(now)
  if math.abs(now - redisNow) > ${tolerance} then now = redisNow end
  local held = count(KEYS[at], KEYS[at + 1], tonumber(requests), now, tonumber(perMinute), tonumber(perDay))
  all[#all + 1], all[#all + 2], all[#all + 3] = held[1], held[2], now
end
return all
`;
}
