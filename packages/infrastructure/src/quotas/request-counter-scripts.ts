/**
 * The domain's `decide` (quota.ts), for some requests of one requester after another, as one atomic step in Redis; the
 * contract suite compares the two.
 *
 * KEYS[1] holds the usage, KEYS[2] the refusals: none of an address, which can't be banned. ARGV: how many requests, now,
 * perMinute, perDay (-1 for no limit), and the ban policy's refusals, firstBan and longestBan. Times are milliseconds,
 * and all numbers integers below 2^53, which Lua's doubles hold exactly. Gives the four numbers of each key as they were
 * before, from which `decide` tells what became of each request.
 *
 * Keys expire by themselves: counted from `now` and not from Redis' clock, as the two may differ, and a minute late, for
 * instances whose clock lags.
 */
export const COUNT_REQUESTS = `
local MINUTE, DAY, SPARE = 60000, 86400000, 60000
local requests, now, perMinute, perDay = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local maxRefusals, firstBan, longestBan = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])

local function read(key, ...)
  local fields = redis.call('HMGET', key, ...)
  for i = 1, #fields do fields[i] = tonumber(fields[i] or 0) end
  return unpack(fields)
end
local minuteStart, minuteUsed, dayStart, dayUsed = read(KEYS[1], 'minuteStart', 'minuteUsed', 'dayStart', 'dayUsed')
local refusedMinute, refusals, bannedAt, bannedUntil = 0, 0, 0, 0
if KEYS[2] then
  refusedMinute, refusals, bannedAt, bannedUntil = read(KEYS[2], 'minuteStart', 'count', 'bannedAt', 'bannedUntil')
end
local before = { minuteStart, minuteUsed, dayStart, dayUsed, refusedMinute, refusals, bannedAt, bannedUntil }

local isNew, isCounted, isRefused = false, false, false
if now >= minuteStart + MINUTE then minuteStart, minuteUsed, isNew = now - now % MINUTE, 0, true end
if now >= dayStart + DAY then dayStart, dayUsed, isNew = now - now % DAY, 0, true end
for _ = 1, requests do
  if bannedUntil > now then break end
  if minuteUsed < perMinute and (perDay < 0 or dayUsed < perDay) then
    minuteUsed, dayUsed, isCounted = minuteUsed + 1, dayUsed + 1, true
  elseif not KEYS[2] then
    break
  else
    isRefused = true
    if now >= refusedMinute + MINUTE then refusedMinute, refusals = now - now % MINUTE, 0 end
    refusals = refusals + 1
    if refusals >= maxRefusals then
      local length = firstBan
      if bannedAt ~= 0 and now < bannedAt + DAY then length = 2 * (bannedUntil - bannedAt) end
      refusals, bannedAt, bannedUntil = 0, now, now + math.min(length, longestBan)
    end
  end
end

if isCounted or isNew then
  redis.call('HSET', KEYS[1],
    'minuteStart', minuteStart, 'minuteUsed', minuteUsed, 'dayStart', dayStart, 'dayUsed', dayUsed)
end
if isNew then
  redis.call('PEXPIRE', KEYS[1], (KEYS[2] and dayStart + DAY or minuteStart + MINUTE) - now + SPARE)
end
if isRefused then
  redis.call('HSET', KEYS[2],
    'minuteStart', refusedMinute, 'count', refusals, 'bannedAt', bannedAt, 'bannedUntil', bannedUntil)
  local needed = refusedMinute + MINUTE
  if bannedAt ~= 0 then needed = math.max(needed, bannedAt + DAY, bannedUntil) end
  redis.call('PEXPIRE', KEYS[2], needed - now + SPARE)
end
return before
`;

/** The same numbers, read together; writes nothing. */
export const LOOK_AT_REQUEST = `
local state = redis.call('HMGET', KEYS[1], 'minuteStart', 'minuteUsed', 'dayStart', 'dayUsed')
local refusals = { 0, 0, 0, 0 }
if KEYS[2] then refusals = redis.call('HMGET', KEYS[2], 'minuteStart', 'count', 'bannedAt', 'bannedUntil') end
for i = 1, 4 do
  state[i] = tonumber(state[i] or 0)
  state[i + 4] = tonumber(refusals[i] or 0)
end
return state
`;
