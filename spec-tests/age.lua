-- Ages one key, as if time had passed: for conformance tests only, never part of a product.
--
-- KEYS[1]  a key of the limiter: counter, distinct set, cell or ban
-- ARGV[1]  how much to age it by: microseconds, a decimal integer; below 0 sets the clock back
-- reply    milliseconds left to the key; 0: its time was over and it was deleted;
--          -1: it has no expiry and was left as it is; -2: there is no such key.
--          An error if ARGV[1] is no such number, or a cell does not read as one; then nothing was changed.
--
-- The expiry is shortened by ARGV[1], rounded to milliseconds. A cell, the key that ends in `}:gcra`, also holds instants:
-- `<tat_us>:<remainder>:<limit>:<changed_us>`, Unix microseconds. Both move back by exactly ARGV[1]; the rest stays.
-- Lua numbers are doubles: microseconds since 1970 are exact (below 2^53), and %.0f prints them without an exponent.

local age_us = tonumber(ARGV[1])
if not age_us or age_us ~= math.floor(age_us) then
  return redis.error_reply('ERR age.lua: ARGV[1] must be whole microseconds')
end

local left_ms = redis.call('PTTL', KEYS[1])
if left_ms < 0 then
  return left_ms
end

local cell
if string.sub(KEYS[1], -6) == '}:gcra' then
  local text = redis.call('GET', KEYS[1])
  local tat, middle, changed = string.match(text, '^(%-?%d+)(:%d+:%d+:)(%-?%d+)$')
  if not tat then
    return redis.error_reply('ERR age.lua: not a cell <tat_us>:<remainder>:<limit>:<changed_us>: ' .. text)
  end
  cell = string.format('%.0f%s%.0f', tonumber(tat) - age_us, middle, tonumber(changed) - age_us)
end

left_ms = left_ms - math.floor(age_us / 1000 + 0.5)
if left_ms <= 0 then
  redis.call('DEL', KEYS[1])
  return 0
end
if cell then
  redis.call('SET', KEYS[1], cell, 'PX', left_ms)
else
  redis.call('PEXPIRE', KEYS[1], left_ms)
end
return left_ms
