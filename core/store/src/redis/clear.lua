-- Deletes counters and bans, whatever their types; what cannot be deleted stays.
--
-- KEYS   the counters and bans of one identifier
-- Reply: one string: how many were deleted, and behind it, if some could not be, `!` and the first error.
local deleted, failure = 0, nil
for i = 1, #KEYS do
  local reply = redis.pcall('DEL', KEYS[i])
  if type(reply) == 'number' then
    deleted = deleted + reply
  else
    failure = failure or (type(reply) == 'table' and reply.err) or 'DEL failed'
  end
end
if failure then
  return deleted .. ' ! ' .. failure
end
return tostring(deleted)
