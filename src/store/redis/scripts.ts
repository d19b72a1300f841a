/**
 * The scripts of the Redis driver. Redis runs a script as one step. All keys of a partition have the same
 * hash tag, so they are on one node of a cluster:
 *
 *     lk:{partition}:r:KEY    a record: revision, space, JSON
 *     lk:{partition}:i:NAME   an index: a sorted set of equal scores
 *     lk:{partition}:v        the revision of each index that is not empty
 *     lk:{partition}:k        the keys of all records
 *     lk:{partition}:n        the revision of the last commit
 *     lk:{partition}:c:REV    whether a commit was done: for a while, for whoever did not hear of it
 *
 * Each takes `lk:{partition}:n` as its key and a request as JSON. "" stands for "there is none".
 *
 * While a cluster moves a slot from one node to another, some keys of a partition are here and some there. The node
 * that gives them away has the script say so at the first key that is not there (any more, or at all); where the
 * key above has gone too, it says ASK, which is not followed. So there is an error, and nothing was done: a commit
 * asks for its own `c:REV`, which is not there, before it writes anything.
 */
const SHARED = `
local base, request = string.sub(KEYS[1], 1, -3), cjson.decode(ARGV[1])
local function stored(key) return redis.call('GET', base .. ':r:' .. key) end
local function revision(value)
  if not value then return '' end
  return string.sub(value, 1, string.find(value, ' ', 1, true) - 1)
end
local function holds()
  for _, expected in ipairs(request.records) do
    if revision(stored(expected[1])) ~= expected[2] then return false end
  end
  for _, expected in ipairs(request.indexes) do
    if (redis.call('HGET', base .. ':v', expected[1]) or '') ~= expected[2] then return false end
  end
  return true
end
`

/** @returns nothing where something expected is not so; else records, ranges and counts */
export const READ = `${SHARED}
if not holds() then return false end
local found, records, ranges, counts = {}, {}, {}, {}
for i, reference in ipairs(request.references) do
  local led = true
  local key = string.gsub(reference, '{(%d+)%.([%w_]+)}', function(index, member)
    local value = found[tonumber(index) + 1]
    if value then
      value = cjson.decode(string.sub(value, string.find(value, ' ', 1, true) + 1))[member]
    end
    if type(value) == 'string' then return value end
    led = false
    return ''
  end)
  found[i] = led and stored(key) or false
  records[i] = { led and key or false, found[i] }
end
for i, range in ipairs(request.ranges) do
  local name = base .. ':i:' .. range.index
  local low = range.after and '(' .. range.after or '-'
  local high = range.before and '(' .. range.before or '+'
  local entries
  if range.reverse then
    entries = redis.call('ZREVRANGEBYLEX', name, high, low, 'LIMIT', 0, range.limit)
  else
    entries = redis.call('ZRANGEBYLEX', name, low, high, 'LIMIT', 0, range.limit)
  end
  local values = {}
  if range.fetch then
    for j, entry in ipairs(entries) do
      values[j] = stored(range.fetch .. string.match(entry, '[^ ]+$')) or false
    end
  end
  ranges[i] = { redis.call('HGET', base .. ':v', range.index) or false, entries, values }
end
for i, name in ipairs(request.counts) do
  counts[i] = redis.call('ZCARD', base .. ':i:' .. name)
end
return { records, ranges, counts }
`

/**
 * First it makes sure of everything, then it does what cannot fail: an error in the middle of a script undoes
 * nothing. (A server that is out of memory refuses the first write of a script, and none after it.)
 *
 * Its outcome is remembered. Where it is sent again, an earlier try may still be under way, in some buffer: what
 * the later one was answered must then hold for it too, so "no" is remembered as well as "done".
 *
 * After the request it takes for how many milliseconds that is, and "1" where it was sent before.
 * @returns 1 where it is done, now or by an earlier try; 0 where something expected is not so
 */
export const COMMIT = `${SHARED}
local marker, remember, again = base .. ':c:' .. request.revision, ARGV[2], ARGV[3] == '1'
local known = redis.call('GET', marker)
if known then
  if again then redis.call('PEXPIRE', marker, remember) end
  return tonumber(known)
end
local function refuse()
  if again then redis.call('SET', marker, '0', 'PX', remember) end
  return 0
end
if not holds() then return refuse() end
for _, limit in ipairs(request.capacity) do
  if redis.call('ZCARD', base .. ':i:' .. limit[1]) > limit[2] then return refuse() end
end
local function inPieces(command, key, members, score)
  for from = 1, #members, 1000 do
    local arguments = {}
    for i = from, math.min(from + 999, #members) do
      if score then arguments[#arguments + 1] = 0 end
      arguments[#arguments + 1] = members[i]
    end
    redis.call(command, key, unpack(arguments))
  end
end
redis.call('SET', base .. ':n', request.revision)
for _, put in ipairs(request.put) do
  redis.call('SET', base .. ':r:' .. put[1], request.revision .. ' ' .. put[2])
  redis.call('ZADD', base .. ':k', 0, put[1])
end
for _, key in ipairs(request.remove) do
  redis.call('DEL', base .. ':r:' .. key)
  redis.call('ZREM', base .. ':k', key)
end
for _, change in ipairs(request.changes) do
  local name = base .. ':i:' .. change[1]
  inPieces('ZREM', name, change[3], false)
  inPieces('ZADD', name, change[2], true)
  if redis.call('EXISTS', name) == 1 then
    redis.call('HSET', base .. ':v', change[1], request.revision)
  else
    redis.call('HDEL', base .. ':v', change[1])
  end
end
redis.call('SET', marker, '1', 'PX', remember)
return 1
`

/**
 * A piece of all records.
 * @returns the revision of the last commit, and some keys with their records, in order
 */
export const DUMP = `
local base, after, limit = string.sub(KEYS[1], 1, -3), ARGV[1], tonumber(ARGV[2])
local keys = redis.call('ZRANGEBYLEX', base .. ':k', after == '' and '-' or '(' .. after, '+', 'LIMIT', 0, limit)
local values = {}
for i, key in ipairs(keys) do values[i] = redis.call('GET', base .. ':r:' .. key) end
return { redis.call('GET', base .. ':n') or '', keys, values }
`
