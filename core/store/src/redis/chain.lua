-- One check or peek: the steps of a chain, in order, up to the one that stops it.
--
-- ARGV[1]  words, each with a space behind it: a client spends more on an argument than this on a word
--   cost, decimal text
--   then for each step
--   op     three letters: what, when the chain stops, and whether the rule bans
--            what  w charge a window   d add to a set   g take from a GCRA cell
--                  r read a window     e read a set     p read a GCRA cell
--            stop  n never   o when over   p when passed
--            ban   b bans   f bans, but now only read   - has no ban
--   the ban in ms, where the rule bans
--   w, r, d, e   period in ms, limit
--   g, p   limit, then what the call takes and what the bucket holds: each whole us and 1/limit us
-- ARGV[2]… the member of each step d
-- KEYS     for each step its counter and, where the rule bans, its ban
--
-- Reply: one string of words. For each step that ran
--   w r d e  count, ms left (-1: no expiry, or no key), over (1 or 0)
--   g p      TAT: whole us, 1/limit us; now and clock in us; over (1 or 0)
--   and behind it, where the rule bans, ms left of the ban in force (0: none)
-- A failure ends it: `!` and its text; the steps before it stay charged.
--
-- Cell of GCRA, a string: TAT in whole us : remainder in 1/limit us : that limit : us of the last change.
-- Numbers are doubles, exact below 2^53. The same arithmetic is in the engine (gcra.rs, cost.rs).
-- One loop without functions: making a closure costs as much as a tenth of a command.
local call, byte, floor, format, match = redis.pcall, string.byte, math.floor, string.format, string.match
local KEYS, words = KEYS, ARGV[1]
local cost, at = match(words, '^(%S+) ()')
local reply, key, member, last = '', 1, 2, #words
local clock, failure
-- Whole costs are added as integers, at a quarter of the price; a counter that holds a fraction refuses that.
local whole = cost % 1 == 0 and cost * 1 < 1000000000

while at <= last do
  local what, stop, bans = byte(words, at, at + 2)
  local name, over = KEYS[key], false
  at, key = at + 4, key + 1

  -- The ban in force, if any: then nothing is charged.
  local free, ban, ban_ms, ban_left = true, nil, nil, nil
  if bans ~= 45 then
    ban, key = KEYS[key], key + 1
    ban_ms, at = match(words, '^(%d+) ()', at)
    ban_left = call('PTTL', ban)
    if ban_left == -1 then
      ban_left = ban_ms * 1
      if bans == 98 then
        call('PEXPIRE', ban, ban_ms)
      end
    end
    free = ban_left <= 0
  end

  if what == 119 or what == 114 then
    local period, limit
    period, limit, at = match(words, '^(%d+) (%d+) ()', at)
    limit = limit * 1
    local left, stored = call('PTTL', name), nil
    if what == 114 or not free then
      -- A window that ends now is over; one without expiry is read as it is.
      if left > 0 or left == -1 then
        stored = call('GET', name)
        if type(stored) == 'string' and not stored:find('^[+-]?%.?%d[%d.eE+-]*$') and not stored:find('^[+-]?0[xX]%x+$') then
          -- What INCRBYFLOAT would refuse; Lua reads more as a number.
          failure = 'WRONGTYPE the counter holds no number'
          break
        end
      else
        left, stored = -1, '0'
      end
    elseif left > 0 or left == -1 then
      stored = whole and call('INCRBY', name, cost)
      if type(stored) ~= 'number' then
        stored = call('INCRBYFLOAT', name, cost)
      end
      -- What is no counter is left as it is.
      if left == -1 and type(stored) ~= 'table' then
        call('PEXPIRE', name, period)
        left = period
      end
    else
      local set = call('SET', name, cost, 'PX', period)
      left, stored = period, set.err and set or cost
    end
    local count = tonumber(stored)
    if not count then
      failure = type(stored) == 'table' and stored.err or 'WRONGTYPE the counter holds no number'
      break
    end
    if count % 1 == 0 and count < 9007199254740992 then
      over = count > limit or limit == 0
      reply = reply .. format(over and '%d %d 1 ' or '%d %d 0 ', count, left)
    elseif count ~= count or count == 1 / 0 or count == -1 / 0 then
      failure = 'WRONGTYPE the counter holds no number'
      break
    else
      -- Fractions are counted in millionths: `text` is the shortest decimal that says exactly so many.
      local millionths, text
      stored = type(stored) == 'number' and format('%.0f', stored) or stored
      if count < 0 then
        millionths, text = count * 1000000, stored
      elseif count < 4294967296 then
        -- Doubles are dense enough here: the nearest millionth is the one that was meant.
        millionths = floor(count * 1000000 + 0.5)
        text = count == millionths / 1000000 and stored
      elseif count < 9007199254.740992 then
        local whole, rest = stored:match('^(%d+)%.?(%d*)$')
        rest = (rest or '') .. '0000000'
        millionths = (whole or floor(count)) * 1000000 + rest:sub(1, 6)
        if byte(rest, 7) >= 53 then
          millionths = millionths + 1
        end
      else
        millionths, text = count * 1000000, stored
      end
      if not text then
        local whole = floor(millionths / 1000000)
        text = format('%.0f.%06d', whole, millionths - whole * 1000000):gsub('%.?0+$', '')
        -- What many additions left behind the sixth place is taken back.
        if what == 119 and free and text ~= stored then
          call('SET', name, text, 'KEEPTTL')
        end
      end
      over = millionths > limit * 1000000 or limit == 0
      reply = reply .. text .. format(over and ' %d 1 ' or ' %d 0 ', left)
    end

  elseif what == 103 or what == 112 then
    local limit, take, take_rest, hold, hold_rest
    limit, take, take_rest, hold, hold_rest, at = match(words, '^(%d+) (%d+) (%d+) (%d+) (%d+) ()', at)
    take, take_rest, hold, hold_rest = take * 1, take_rest * 1, hold * 1, hold_rest * 1
    if not clock then
      local time = call('TIME')
      clock = time[1] * 1000000 + time[2]
    end
    -- The cell as it is now: a TAT that came is none, and time never runs backwards for it.
    local now, tat, rest = clock, clock, 0
    local stored = call('GET', name)
    if stored then
      local t, r, l, c = nil, nil, nil, nil
      if type(stored) == 'string' then
        t, r, l, c = stored:match('^(%d+):(%d+):(%d+):(%d+)$')
      end
      if not t or t * 1 >= 9007199254740992 or r * 1 >= 9007199254740992 or c * 1 >= 9007199254740992 then
        failure = stored.err or 'WRONGTYPE the counter holds no GCRA cell'
        break
      end
      t, r, c = t * 1, r * 1, c * 1
      if l ~= limit and r > 0 then
        -- A remainder of another limit is rounded up.
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
    -- Remainders are never summed: below 2^53 each, together they would not be.
    local moved, moved_rest, room = tat + take, rest, limit - take_rest
    if take_rest > 0 and rest >= room then
      moved, moved_rest = moved + 1, rest - room
    else
      moved_rest = rest + take_rest
    end
    local owed = moved - now
    over = owed > hold or (owed == hold and moved_rest > hold_rest)
    if what == 103 and free and not over then
      tat, rest = moved, moved_rest
      -- To the millisecond behind the TAT: never before it, whatever Redis' own clock rounds.
      local until_ms = floor((tat + (rest > 0 and 1 or 0) + 999) / 1000)
      local cell = format('%.0f:%.0f:%s:%.0f', tat, rest, limit, now)
      local set = call('SET', name, cell, 'PXAT', format('%.0f', until_ms))
      if set.err then
        failure = set.err
        break
      end
    end
    reply = reply .. format('%.0f %.0f %.0f %.0f ', tat, rest, now, clock) .. (over and '1 ' or '0 ')

  else
    local period, limit
    period, limit, at = match(words, '^(%d+) (%d+) ()', at)
    limit = limit * 1
    local left, added = call('PTTL', name), nil
    if left == 0 then
      -- It ends now: over.
      if what == 100 then
        call('DEL', name)
      end
      left = -2
    end
    if what == 100 then
      added = call('SADD', name, ARGV[member])
      member = member + 1
      if left < 0 and type(added) ~= 'table' then
        call('PEXPIRE', name, period)
        left = period * 1
      end
    end
    local count = left == -2 and 0 or call('SCARD', name)
    if type(added) == 'table' or type(count) == 'table' then
      failure = (type(added) == 'table' and added or count).err
      break
    end
    over = count > limit or limit == 0
    reply = reply .. format(over and '%d %d 1 ' or '%d %d 0 ', count, left < 0 and -1 or left)
  end

  if ban then
    if not free then
      over = true
    elseif over and bans == 98 then
      local set = call('SET', ban, '1', 'PX', ban_ms)
      if set.err then
        failure = set.err
        break
      end
      ban_left = ban_ms
    else
      ban_left = 0
    end
    reply = reply .. format('%d ', ban_left)
  end

  if stop ~= 110 and over == (stop == 111) then
    break
  end
end

if failure then
  return reply .. '! ' .. failure
end
return reply
