import { SAVE } from './dump-scripts.ts'
import { COMMITS_LENGTH, KEPT_LENGTH } from './last-commits.ts'

/**
 * The scripts of the redis driver. Redis executes a script atomically. All keys of a partition have the same hash
 * tag, so they are on the same node of a cluster:
 *
 *     lk:{partition}:r:KEY    a record: revision, space, JSON
 *     lk:{partition}:i:NAME   an index: a sorted set with equal scores
 *     lk:{partition}:v        the revision of each index that is not empty
 *     lk:{partition}:k        the keys of all records
 *     lk:{partition}:n        the last commits, each as a line: what it has changed, and its revision (see `last-commits.ts`)
 *     lk:{partition}:t        the id of the lease that is held: expires
 *     lk:{partition}:c:REV    the outcome of a commit: expires; for clients that missed the reply
 *     lk:{partition}:w:NAME   no key, but a channel: a commit has appended to the index
 *
 * Each script takes `lk:{partition}:n` as its key. "" means "absent".
 *
 * While a cluster migrates a slot, the keys of a partition can be on two nodes. The source node fails a script at the
 * first key that is missing there. When the key that routes the script has been migrated too, the node replies ASK,
 * which the client does not follow. In both cases the command fails and nothing is changed: a commit reads its
 * `c:REV`, which is absent, before it writes.
 */
const SHARED = `
local base = string.sub(KEYS[1], 1, -3)
local function stored(key) return redis.call('GET', base .. ':r:' .. key) end
local function decoded(value) return cjson.decode(string.sub(value, string.find(value, ' ') + 1)) end
local function hasMembers(value, members)
  if not value then return false end
  local record = decoded(value)
  for name, text in pairs(members) do
    if record[name] ~= text then return false end
  end
  return true
end
local function isRecordAsExpected(key, revision, members)
  -- Records can be long, and revisions are not.
  local found = string.match(redis.call('GETRANGE', base .. ':r:' .. key, '0', '63'), '^[^ ]*')
  return found == revision or members ~= '' and hasMembers(stored(key), cjson.decode(members))
end
local function isIndexAsExpected(name, revision) return (redis.call('HGET', base .. ':v', name) or '') == revision end
`

/**
 * Reads a snapshot. The request is JSON. The `size` of a range, and of `rest`, which are more keys, limits the bytes of all records that are read so
 * far: what exceeds it is left out, and all that follows. With `readsOne`, the first record is read although it exceeds it.
 * @returns nil when the expectation is not met; otherwise records, ranges, counts, the records of `rest`, and the last commits of
 * the partition
 */
export const READ = `${SHARED}
local request = cjson.decode(ARGV[1])
for _, expected in ipairs(request.records) do
  if not isRecordAsExpected(expected[1], expected[2], expected[3]) then return false end
end
for _, expected in ipairs(request.indexes) do
  if not isIndexAsExpected(expected[1], expected[2]) then return false end
end
local values, records, ranges, counts, rest, bytes, isFull = {}, {}, {}, {}, {}, 0, false
local function fetch(list, key, size)
  if size and isFull then return end
  local value = stored(key)
  local total = bytes + (value and #value or 0)
  isFull = size and total > size and not (request.readsOne and bytes == 0)
  if isFull then return end
  bytes = total
  list[#list + 1] = value
end
for i, template in ipairs(request.templates) do
  local key = #template > 0 and ''
  for _, part in ipairs(type(template) == 'string' and { template } or template) do
    local value = type(part) == 'table' and values[part.index + 1]
    if value then part = decoded(value)[part.member] end
    key = key and type(part) == 'string' and key .. part
  end
  values[i] = key and stored(key)
  records[i] = { key, values[i] }
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
  local fetched = {}
  if range.fetch then
    for _, entry in ipairs(entries) do fetch(fetched, range.fetch .. string.match(entry, '[^ ]+$'), range.size) end
  end
  ranges[i] = { redis.call('HGET', base .. ':v', range.index) or false, entries, fetched }
end
for i, name in ipairs(request.counts) do
  counts[i] = redis.call('ZCARD', base .. ':i:' .. name)
end
for _, key in ipairs(request.rest) do fetch(rest, key, request.size) end
return { records, ranges, counts, rest, redis.call('GET', KEYS[1]) }
`

/**
 * Applies a change. All checks come first and the writes cannot fail, because an error in the middle of a script
 * does not undo its writes. A server that is out of memory refuses the first write of a script, but no later one, and
 * never a DEL. So a commit that only revokes or removes begins with a DEL, which has no effect: all its writes are then
 * accepted. (A script with the flag allow-oom would do the same, but Redis 6 does not know flags.)
 *
 * The outcome is stored. When a commit is resent, an earlier attempt may still be in a network buffer. It must then
 * have the outcome that was replied to the later attempt, so a conflict is stored for resent commits too. A resent commit gives its
 * partition and its indexes another revision: if a failover has lost the earlier attempt, and commits before it, they are in another state
 * than after that.
 *
 * Arguments: the revision of the change, how long the outcome is stored, in milliseconds, "1" for a resent commit, the revision of the
 * partition after the commit, its line, a text of lists, and the records to put and then those to append, each with its revision. Each item of
 * the text ends with NUL: Lua splits it faster than it decodes JSON, and the client sends it faster than many arguments. It has the lease, "1"
 * for a commit that only removes, and then these lists, each after its length:
 *
 *     records that are expected          key, revision, members as JSON or ""
 *     indexes that are expected          name, revision
 *     indexes with a capacity            name, number of entries that they may have
 *     records to put                     key, "0" if it is listed: the commit expects that it exists
 *     records to remove                  key
 *     indexes that records are added to  name, what the keys of these records begin with, their number
 *     changes of indexes                 name, numbers of entries to add and to remove, these entries
 *
 * @returns the revision of the partition before the commit; 1 when an earlier attempt has applied the change; 0 when the expectation is not
 * met; 2 while another lease is held
 */
export const COMMIT = `${SHARED}
local revision, ttl, resent, state, line = ARGV[1], ARGV[2], ARGV[3] == '1', ARGV[4], ARGV[5]
local items, length, at, textAt = {}, 0, 2, 6
for item in string.gmatch(ARGV[6], '(%Z*)%z') do
  length = length + 1
  items[length] = item
end
local function nextNumber()
  at = at + 1
  return tonumber(items[at])
end
local function inBatches(command, key, list, first, last)
  -- Lua passes at most some thousand arguments. A batch has whole pairs.
  for from = first, last, 2000 do
    local to = math.min(from + 1999, last)
    if key then redis.call(command, key, unpack(list, from, to)) else redis.call(command, unpack(list, from, to)) end
  end
end
local marker, dumps = base .. ':c:' .. revision, {}
if redis.call('EXISTS', marker, base .. ':t', base .. ':d') > 0 then
  local known = redis.call('GET', marker)
  if known then
    if resent then redis.call('PEXPIRE', marker, ttl) end
    return tonumber(known)
  end
  local holder = redis.call('GET', base .. ':t')
  -- In scripts, a replica of Redis 6 that has lost its master still has keys that have expired.
  if holder and holder ~= items[1] and redis.call('PTTL', base .. ':t') > 0 then return 2 end
  dumps = redis.call('HGETALL', base .. ':d')
end
if items[2] == '1' then redis.call('DEL', marker) end
local function refuse()
  if resent then redis.call('SET', marker, '0', 'PX', ttl) end
  return 0
end
for _ = 1, nextNumber() do
  if not isRecordAsExpected(items[at + 1], items[at + 2], items[at + 3]) then return refuse() end
  at = at + 3
end
for _ = 1, nextNumber() do
  if not isIndexAsExpected(items[at + 1], items[at + 2]) then return refuse() end
  at = at + 2
end
for _ = 1, nextNumber() do
  if redis.call('ZCARD', base .. ':i:' .. items[at + 1]) > tonumber(items[at + 2]) then return refuse() end
  at = at + 2
end
local changed, sets, keys, revisions, added, removed = {}, {}, {}, {}, {}, {}
local function put(key, isToList)
  textAt = textAt + 1
  changed[#changed + 1] = key
  sets[#sets + 1] = base .. ':r:' .. key
  sets[#sets + 1] = ARGV[textAt]
  if isToList then
    keys[#keys + 1] = '0'
    keys[#keys + 1] = key
  end
end
for _ = 1, nextNumber() do
  put(items[at + 1], items[at + 2] == '1')
  at = at + 2
end
for i = 1, nextNumber() do
  at = at + 1
  removed[i] = items[at]
  changed[#changed + 1] = items[at]
end
for _ = 1, nextNumber() do
  local name, prefix = items[at + 1], items[at + 2]
  at = at + 2
  local last = tonumber(redis.call('ZREVRANGE', base .. ':i:' .. name, '0', '0')[1] or 0)
  added[name] = {}
  for i = 1, nextNumber() do
    local entry = string.format('%016.0f', last + i)
    put(prefix .. entry, true)
    added[name][2 * i - 1] = '0'
    added[name][2 * i] = entry
  end
end
${SAVE}
inBatches('MSET', nil, sets, 1, #sets)
inBatches('ZADD', base .. ':k', keys, 1, #keys)
for _, key in ipairs(removed) do
  redis.call('DEL', base .. ':r:' .. key)
  redis.call('ZREM', base .. ':k', key)
end
for name, scored in pairs(added) do
  inBatches('ZADD', base .. ':i:' .. name, scored, 1, #scored)
  revisions[#revisions + 1] = name
  revisions[#revisions + 1] = state
end
for _ = 1, nextNumber() do
  local index, additions, removals = items[at + 1], tonumber(items[at + 2]), tonumber(items[at + 3])
  local name = base .. ':i:' .. index
  at = at + 3
  inBatches('ZREM', name, items, at + additions + 1, at + additions + removals)
  if additions == 1 then
    redis.call('ZADD', name, '0', items[at + 1])
  else
    local scored = {}
    for i = 1, additions do
      scored[2 * i - 1] = '0'
      scored[2 * i] = items[at + i]
    end
    inBatches('ZADD', name, scored, 1, #scored)
  end
  at = at + additions + removals
  if additions > 0 or redis.call('EXISTS', name) == 1 then
    revisions[#revisions + 1] = index
    revisions[#revisions + 1] = state
  else
    redis.call('HDEL', base .. ':v', index)
  end
end
inBatches('HSET', base .. ':v', revisions, 1, #revisions)
redis.call('SET', marker, '1', 'PX', ttl)
local tail = redis.call('GETRANGE', KEYS[1], '-64', '-1')
if redis.call('APPEND', KEYS[1], line) > ${COMMITS_LENGTH} then
  redis.call('SET', KEYS[1], redis.call('GETRANGE', KEYS[1], '-${KEPT_LENGTH}', '-1'))
end
-- A hint for other processes. A user without permission to publish can commit all the same.
for name in pairs(added) do redis.pcall('PUBLISH', base .. ':w:' .. name, '') end
return string.match(tail, '^.*%s(.*)$') or tail
`

/** Ends a lease, unless another one has begun. Arguments: the key of the lease, and its id. */
export const END_TURN = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
`
