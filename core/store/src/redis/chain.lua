-- One check or peek: the steps of a chain, in order, up to the one that stops it.
--
-- ARGV[1]  cost, decimal text
-- then for each step
--   op     three letters: what, when the chain stops, and whether the rule bans
--            what  w charge a window   d add to a set   g take from a GCRA cell
--                  r read a window     e read a set     p read a GCRA cell
--            stop  n never   o when over   p when passed
--            ban   b then one more key and, last, the ban in ms; f the same, but only read; - none
--   w, r   period in ms, limit
--   d      period in ms, limit, member        e  period in ms, limit
--   g, p   limit, then what the call takes and what the bucket holds: each whole us and 1/limit us
-- KEYS     for each step its counter and, where the rule bans, its ban
--
-- Reply: one string of words. For each step that ran
--   w d r e  count, ms left (-1: no expiry, or no key), over (1 or 0)
--   g p      TAT: whole us, 1/limit us; now and clock in us; over (1 or 0)
--   and behind it, where the rule bans, ms left of the ban in force (0: none)
-- An error ends it: `!` and its text; the steps before it stay charged.
--
-- Cell of GCRA, a string: TAT in whole us : remainder in 1/limit us : that limit : us of the last change.
-- Numbers are doubles, exact below 2^53. The same arithmetic is in the engine (gcra.rs, cost.rs).
local call, byte, floor, format = redis.call, string.byte, math.floor, string.format
local out, size, key, arg = {}, 0, 1, 2
local cost = ARGV[1]
local clock

local function us()
  if not clock then
    local time = call('TIME')
    clock = time[1] * 1000000 + time[2]
  end
  return clock
end

-- Millionths as the shortest decimal text.
local function text(millionths)
  local whole = floor(millionths / 1000000)
  local rest = millionths - whole * 1000000
  if rest == 0 then
    return format('%.0f', whole)
  end
  return (format('%.0f.%06d', whole, rest):gsub('0+$', ''))
end

-- A stored number in millionths, rounded; beside it the text that says exactly that.
local function read(stored)
  local number = tonumber(stored)
  if not number or number ~= number or number == 1 / 0 then
    error('WRONGTYPE the counter holds no number', 0)
  end
  if number < 4294967296 then
    -- Doubles are dense enough here: the nearest millionth is the one that was meant.
    local millionths = floor(number * 1000000 + 0.5)
    if number == millionths / 1000000 then
      return millionths, stored
    end
    return millionths, text(millionths)
  end
  local whole, rest = stored:match('^(%d+)%.?(%d*)$')
  if not whole or number >= 9007199254.740992 then
    return number * 1000000, stored
  end
  rest = rest .. '0000000'
  local millionths = whole * 1000000 + rest:sub(1, 6)
  if byte(rest, 7) >= 53 then
    millionths = millionths + 1
  end
  return millionths, text(millionths)
end

local function window(name, period, limit, charge)
  local left = call('PTTL', name)
  local millionths, exact
  if charge then
    if left > 0 or left == -1 then
      local stored = call('INCRBYFLOAT', name, cost)
      millionths, exact = read(stored)
      if exact ~= stored then
        call('SET', name, exact, 'KEEPTTL')
      end
      if left == -1 then
        call('PEXPIRE', name, period)
        left = period
      end
    else
      call('SET', name, cost, 'PX', period)
      millionths, exact, left = read(cost), cost, period
    end
  elseif left > 0 or left == -1 then
    millionths, exact = read(call('GET', name))
  else
    millionths, exact, left = 0, '0', -1
  end
  limit = limit * 1
  local over = limit == 0 or millionths > limit * 1000000
  out[size + 1], out[size + 2], out[size + 3] = exact, left, over and 1 or 0
  size = size + 3
  return over
end

local function set(name, period, limit, member)
  local left = call('PTTL', name)
  if left == 0 then
    if member then
      call('DEL', name)
    end
    left = -2
  end
  if member then
    call('SADD', name, member)
    if left < 0 then
      call('PEXPIRE', name, period)
      left = period * 1
    end
  end
  local count = left == -2 and 0 or call('SCARD', name)
  limit = limit * 1
  local over = limit == 0 or count > limit
  out[size + 1], out[size + 2], out[size + 3] = count, left < 0 and -1 or left, over and 1 or 0
  size = size + 3
  return over
end

local function gcra(name, limit, take, take_rest, hold, hold_rest, charge)
  local now = us()
  local tat, rest = now, 0
  local stored = call('GET', name)
  if stored then
    local t, r, l, c = stored:match('^(%d+):(%d+):(%d+):(%d+)$')
    if not t then
      error('WRONGTYPE the counter holds no GCRA cell', 0)
    end
    t, r, c = t * 1, r * 1, c * 1
    if l ~= limit and r > 0 then
      t, r = t + 1, 0
    end
    if t > now or (t == now and r > 0) then
      if c > now then
        now = c
      end
      if t >= now then
        tat, rest = t, r
      else
        tat = now
      end
    end
  end
  local moved, moved_rest = tat + take, rest + 0
  if take_rest > 0 then
    local room = limit - take_rest
    if rest >= room then
      moved, moved_rest = moved + 1, rest - room
    else
      moved_rest = rest + take_rest
    end
  end
  local owed = moved - now
  local over = owed > hold or (owed == hold and moved_rest > hold_rest)
  if charge and not over then
    -- To the millisecond behind the TAT: never before it, whatever Redis' own clock rounds.
    local until_ms = floor((moved + (moved_rest > 0 and 1 or 0) + 999) / 1000)
    call('SET', name, format('%.0f:%.0f:%s:%.0f', moved, moved_rest, limit, now), 'PXAT', format('%.0f', until_ms))
    tat, rest = moved, moved_rest
  end
  out[size + 1], out[size + 2] = format('%.0f', tat), format('%.0f', rest)
  out[size + 3], out[size + 4], out[size + 5] = format('%.0f', now), format('%.0f', clock), over and 1 or 0
  size = size + 5
  return over
end

local function step()
  local what, stop, bans = byte(ARGV[arg], 1, 3)
  local name = KEYS[key]
  key = key + 1
  local ban, ban_left = nil, 0
  if bans ~= 45 then
    ban = KEYS[key]
    key = key + 1
    ban_left = call('PTTL', ban)
  end
  -- Where the arguments of this step end; the last of a rule that bans is the ban.
  local last = arg + ((what == 103 or what == 112) and 5 or (what == 100 and 3 or 2)) + (ban and 1 or 0)
  if ban_left == -1 then
    ban_left = ARGV[last] * 1
    if bans == 98 then
      call('PEXPIRE', ban, ARGV[last])
    end
  end
  local free = ban_left <= 0
  local over
  if what == 119 or what == 114 then
    over = window(name, ARGV[arg + 1], ARGV[arg + 2], free and what == 119)
  elseif what == 103 or what == 112 then
    over = gcra(name, ARGV[arg + 1], ARGV[arg + 2] * 1, ARGV[arg + 3] * 1, ARGV[arg + 4] * 1, ARGV[arg + 5] * 1,
      free and what == 103)
  else
    over = set(name, ARGV[arg + 1], ARGV[arg + 2], what == 100 and ARGV[arg + 3])
  end
  if ban then
    if free then
      ban_left = 0
      if over and bans == 98 then
        call('SET', ban, '1', 'PX', ARGV[last])
        ban_left = ARGV[last]
      end
    else
      over = true
    end
    size = size + 1
    out[size] = ban_left
  end
  arg = last + 1
  if stop == 110 then
    return false
  end
  return over == (stop == 111)
end

local function run()
  local last = #ARGV
  while arg <= last do
    if step() then
      return
    end
  end
end

local ok, failure = pcall(run)
if not ok then
  out[size + 1] = '!'
  out[size + 2] = type(failure) == 'table' and failure.err or tostring(failure)
end
return table.concat(out, ' ')
