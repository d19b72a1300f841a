import { SAVE } from './dump-scripts.ts'
import { COMMITS_LENGTH } from './last-commits.ts'

/**
 * The scripts of the redis driver. Redis executes a script atomically. All keys of a partition have the same hash
 * tag, so they are on the same node of a cluster:
 *
 *     lk:{partition}:r:KEY    a record: revision, space, JSON
 *     lk:{partition}:i:NAME   an index: a sorted set with equal scores
 *     lk:{partition}:v        the revision of each index that is not empty
 *     lk:{partition}:k        the keys of all records
 *     lk:{partition}:n        the last commits, each as a line: its revision, and what it has changed
 *     lk:{partition}:t        the id of the lease that is held: expires
 *     lk:{partition}:c:REV    the outcome of a commit: expires; for clients that missed the reply
 *     lk:{partition}:w:NAME   no key, but a channel: a commit has appended to the index
 *
 * Each script takes `lk:{partition}:n` as its key and a request as JSON. "" means "absent".
 *
 * While a cluster migrates a slot, the keys of a partition can be on two nodes. The source node fails a script at the
 * first key that is missing there. When the key that routes the script has been migrated too, the node replies ASK,
 * which the client does not follow. In both cases the command fails and nothing is changed: a commit reads its
 * `c:REV`, which is absent, before it writes.
 */
const SHARED = `
local base, request = string.sub(KEYS[1], 1, -3), cjson.decode(ARGV[1])
local function stored(key) return redis.call('GET', base .. ':r:' .. key) end
local function revisionOf(key)
  -- Records can be long, and revisions are not.
  return string.match(redis.call('GETRANGE', base .. ':r:' .. key, '0', '63'), '^[^ ]*')
end
local function decoded(value) return cjson.decode(string.sub(value, string.find(value, ' ') + 1)) end
local function hasMembers(value, members)
  if not value then return false end
  local record = decoded(value)
  for name, text in pairs(members) do
    if record[name] ~= text then return false end
  end
  return true
end
local function meetsExpectation()
  for _, expected in ipairs(request.records) do
    local key, wanted, members = expected[1], expected[2], expected[3]
    if revisionOf(key) ~= wanted and not (members and hasMembers(stored(key), members)) then return false end
  end
  for _, expected in ipairs(request.indexes) do
    if (redis.call('HGET', base .. ':v', expected[1]) or '') ~= expected[2] then return false end
  end
  return true
end
`

/**
 * Reads a snapshot. The `size` of a range, and of `rest`, which are more keys, limits the bytes of all records that are read so
 * far: what exceeds it is left out, and all that follows. With `readsOne`, the first record is read although it exceeds it.
 * @returns nil when the expectation is not met; otherwise records, ranges, counts, the records of `rest`, and the last commits of
 * the partition
 */
export const READ = `${SHARED}
if not meetsExpectation() then return false end
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
 * have the outcome that was replied to the later attempt, so a conflict is stored for resent commits too. The line of a resent commit
 * begins with another revision, which its indexes get too: if a failover has lost the earlier attempt, and commits before it, the partition
 * and its indexes are in another state than after that.
 *
 * Arguments after the request: how long the outcome is stored, in milliseconds, "1" for a resent commit, the line of the commit, and the
 * records to put and then those to append, each with its revision. They are not in the request, because Lua decodes JSON much slower
 * than Redis reads arguments.
 * @returns 1 when the change is applied, now or by an earlier attempt; 0 when the expectation is not met; 2 while another
 * lease is held
 */
export const COMMIT = `${SHARED}
local function inBatches(command, list, key)
  -- Lua passes at most some thousand arguments. A batch has whole pairs.
  for from = 1, #list, 2000 do
    local last = math.min(from + 1999, #list)
    if key then redis.call(command, key, unpack(list, from, last)) else redis.call(command, unpack(list, from, last)) end
  end
end
local marker, ttl, resent = base .. ':c:' .. request.revision, ARGV[2], ARGV[3] == '1'
local known = redis.call('GET', marker)
if known then
  if resent then redis.call('PEXPIRE', marker, ttl) end
  return tonumber(known)
end
if request.onlyRemoves then redis.call('DEL', marker) end
local holder = redis.call('GET', base .. ':t')
if holder and holder ~= request.lease then return 2 end
local function refuse()
  if resent then redis.call('SET', marker, '0', 'PX', ttl) end
  return 0
end
if not meetsExpectation() then return refuse() end
for _, limit in ipairs(request.capacity) do
  if redis.call('ZCARD', base .. ':i:' .. limit[1]) > limit[2] then return refuse() end
end
for _, append in ipairs(request.append or {}) do
  local index, prefix, count = append[1], append[2], append[3]
  local last = tonumber(redis.call('ZREVRANGE', base .. ':i:' .. index, '0', '0')[1] or 0)
  local entries = {}
  for i = 1, count do
    entries[i] = string.format('%016.0f', last + i)
    request.put[#request.put + 1] = prefix .. entries[i]
  end
  request.changes[#request.changes + 1] = { index, entries, {} }
end
${SAVE}
local revision = string.match(ARGV[4], '^[^ ]+')
local commits = string.sub(ARGV[4] .. '\\n' .. (redis.call('GET', KEYS[1]) or ''), 1, ${COMMITS_LENGTH})
local sets, keys, revisions = { KEYS[1], commits }, {}, {}
for i, key in ipairs(request.put) do
  sets[#sets + 1] = base .. ':r:' .. key
  sets[#sets + 1] = ARGV[4 + i]
  keys[#keys + 1] = '0'
  keys[#keys + 1] = key
end
inBatches('MSET', sets)
inBatches('ZADD', keys, base .. ':k')
for _, key in ipairs(request.remove) do
  redis.call('DEL', base .. ':r:' .. key)
  redis.call('ZREM', base .. ':k', key)
end
for _, change in ipairs(request.changes) do
  local name, added, removed = base .. ':i:' .. change[1], change[2], change[3]
  inBatches('ZREM', removed, name)
  if #added == 1 then
    redis.call('ZADD', name, '0', added[1])
  else
    local scored = {}
    for _, entry in ipairs(added) do
      scored[#scored + 1] = '0'
      scored[#scored + 1] = entry
    end
    inBatches('ZADD', scored, name)
  end
  if #added > 0 or redis.call('EXISTS', name) == 1 then
    revisions[#revisions + 1] = change[1]
    revisions[#revisions + 1] = revision
  else
    redis.call('HDEL', base .. ':v', change[1])
  end
end
inBatches('HSET', revisions, base .. ':v')
redis.call('SET', marker, '1', 'PX', ttl)
-- A hint for other processes. A user without permission to publish can commit all the same.
for _, append in ipairs(request.append or {}) do redis.pcall('PUBLISH', base .. ':w:' .. append[1], '') end
return 1
`

/** Ends a lease, unless another one has begun. Arguments: the key of the lease, and its id. */
export const END_TURN = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
`
