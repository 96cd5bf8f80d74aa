import { RESERVED_PART } from './reserved-requests.js';

/**
 * The domain's `decide` (quota.ts), for the requests of some requesters one after another, as one atomic step in Redis;
 * the contract suite compares the two.
 *
 * KEYS: one for each requester, an account or an address. ARGV[1]: the ban policy's refusals, firstBan and longestBan,
 * then for each requester the API key's id (NO_KEY where there is none, which can't be banned), how many that were
 * reserved are given back, how many requests, now, perMinute, perDay, and how many to reserve behind those
 * (reserved-requests.ts). What is held is the four fields of Usage, and behind them, of each API key that was refused,
 * its id and the four fields of Refusals. Gives for each requester the usage before the requests, and of an API key the
 * refusals, zeros where there was nothing: from these `decide` tells what became of each.
 *
 * Times are milliseconds. All numbers but the ids are doubles of eight bytes, the lowest first: as texts, those of many
 * accounts took Redis, and whoever asks it, half as long again. Ids are compared as the eight bytes they are.
 *
 * What is held expires by itself: counted from `now` and not from Redis' clock, as the two may differ, and a minute late,
 * for instances whose clock lags.
 */
export const COUNT_REQUESTS = `
local RESERVED_PART = ${RESERVED_PART}
local MINUTE, DAY, SPARE = 60000, 86400000, 60000
local FOUR, USAGE, REFUSALS = '<dddd', 32, 40
local NONE = struct.pack(FOUR, 0, 0, 0, 0)
local NO_KEY = string.rep('\\255', 8)
local maxRefusals, firstBan, longestBan, at = struct.unpack('<ddd', ARGV[1])
local held = redis.call('MGET', unpack(KEYS))
-- Two API keys of one account come as two requesters.
local written = {}
local before = {}

local function refusalsOf(id, value)
  for place = USAGE + 1, #value, REFUSALS do
    if string.sub(value, place, place + 7) == id then return string.sub(value, place + 8, place + REFUSALS - 1) end
  end
  return NONE
end

-- Until when refusals may matter: what was banned within a day is banned for longer.
local function neededUntil(refusedMinute, _, bannedAt, bannedUntil)
  return math.max(refusedMinute + DAY, bannedAt + DAY, bannedUntil)
end

local function count(index, id, back, requests, now, perMinute, perDay, reserved)
  local key, isBannable = KEYS[index], id ~= NO_KEY
  local value = written[key] or held[index] or NONE
  local minuteStart, minuteUsed, dayStart, dayUsed = struct.unpack(FOUR, value)
  if back > 0 then
    -- To the windows they were counted in, if those are still there.
    if now >= minuteStart then minuteUsed = math.max(0, minuteUsed - back) end
    if now >= dayStart then dayUsed = math.max(0, dayUsed - back) end
  end
  before[#before + 1] = struct.pack(FOUR, minuteStart, minuteUsed, dayStart, dayUsed)
  local refusedMinute, refusals, bannedAt, bannedUntil = 0, 0, 0, 0
  if isBannable then
    local known = refusalsOf(id, value)
    before[#before + 1] = known
    if known ~= NONE then refusedMinute, refusals, bannedAt, bannedUntil = struct.unpack(FOUR, known) end
  end

  local isChanged, isBegun, isRefused = back > 0, false, false
  if now >= minuteStart + MINUTE then minuteStart, minuteUsed, isBegun = now - now % MINUTE, 0, true end
  if now >= dayStart + DAY then dayStart, dayUsed, isBegun = now - now % DAY, 0, true end
  for _ = 1, requests do
    if bannedUntil > now then break end
    if minuteUsed < perMinute and dayUsed < perDay then
      minuteUsed, dayUsed, isChanged = minuteUsed + 1, dayUsed + 1, true
    elseif not isBannable then
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
  if reserved > 0 and bannedUntil <= now then
    local most = math.floor(math.min(perMinute - minuteUsed, perDay - dayUsed) * RESERVED_PART)
    reserved = math.max(0, math.min(reserved, most))
    minuteUsed, dayUsed, isChanged = minuteUsed + reserved, dayUsed + reserved, isChanged or reserved > 0
  end
  local usage = struct.pack(FOUR, minuteStart, minuteUsed, dayStart, dayUsed)
  if not isBegun and not isRefused then
    if not isChanged then return end
    -- What is behind the usage stays, and so does the time for which all is held: a quarter less work for Redis.
    redis.call('SETRANGE', key, 0, usage)
    written[key] = #value > USAGE and usage .. string.sub(value, USAGE + 1) or usage
    return
  end

  local needed = isBannable and dayStart + DAY or minuteStart + MINUTE
  local parts = { usage }
  for place = USAGE + 1, #value, REFUSALS do
    local last = neededUntil(struct.unpack(FOUR, value, place + 8))
    if last + SPARE > now and not (isRefused and string.sub(value, place, place + 7) == id) then
      parts[#parts + 1] = string.sub(value, place, place + REFUSALS - 1)
      needed = math.max(needed, last)
    end
  end
  if isRefused then
    parts[#parts + 1] = id .. struct.pack(FOUR, refusedMinute, refusals, bannedAt, bannedUntil)
    needed = math.max(needed, neededUntil(refusedMinute, refusals, bannedAt, bannedUntil))
  end
  value = table.concat(parts)
  redis.call('SET', key, value, 'PX', needed - now + SPARE)
  written[key] = value
end

for index = 1, #KEYS do
  local id, back, requests, now, perMinute, perDay, reserved
  id, back, requests, now, perMinute, perDay, reserved, at = struct.unpack('<c8dddddd', ARGV[1], at)
  count(index, id, back, requests, now, perMinute, perDay, reserved)
end
return table.concat(before)
`;
