import { SAVE } from './dump-scripts.ts'

/**
 * The scripts of the redis driver. Redis executes a script atomically. All keys of a partition have the same hash
 * tag, so they are on the same node of a cluster:
 *
 *     lk:{partition}:r:KEY    a record: revision, space, JSON
 *     lk:{partition}:i:NAME   an index: a sorted set with equal scores
 *     lk:{partition}:v        the revision of each index that is not empty
 *     lk:{partition}:k        the keys of all records
 *     lk:{partition}:n        the revision of the last commit
 *     lk:{partition}:t        the id of the turn that is held: expires
 *     lk:{partition}:c:REV    the outcome of a commit: expires; for clients that missed the reply
 *     lk:{partition}:w:NAME   no key, but a channel: a commit has appended to the index
 *
 * Each script takes `lk:{partition}:n` as its key. Its arguments are lists, each after its length (see `script-arguments.ts`).
 * What takes time in a script is decoding JSON, building texts, and each command. So arguments are what commands take, and one
 * command reads or writes many keys.
 *
 * While a cluster migrates a slot, the keys of a partition can be on two nodes. The source node fails a script at the
 * first command with a key that is missing there. When the key that routes the script has been migrated too, the node replies
 * ASK, which the client does not follow. In both cases the command fails and nothing is changed: the first command of a commit
 * reads its `c:REV`, which is absent.
 */
const SHARED = `
local base, at = string.sub(KEYS[1], 1, -3), 0
local function take()
  at = at + 1
  return ARGV[at]
end
local function list()
  local first = at + 1
  repeat at = at + 1 until ARGV[at] == ''
  return first, at - 1
end
-- Lua passes some thousands of arguments at most. Batches are even, because arguments can be pairs.
local function inBatches(command, all, first, last, key)
  for from = first, last, 1000 do
    if key then
      redis.call(command, key, unpack(all, from, math.min(from + 999, last)))
    else
      redis.call(command, unpack(all, from, math.min(from + 999, last)))
    end
  end
end
local function decoded(value) return cjson.decode(string.sub(value, string.find(value, ' ', 1, true) + 1)) end
-- Records can be long, and revisions are not: only those are compared, unless another revision is accepted too.
local function isExpected(key, last, revision, members)
  if redis.call('GETRANGE', key, '0', last) == revision then return true end
  local value = members ~= '-' and redis.call('GET', key)
  if not value then return false end
  local record = decoded(value)
  for name, text in pairs(cjson.decode(members)) do
    if record[name] ~= text then return false end
  end
  return true
end
local function areAbsent(first, last)
  for from = first, last, 1000 do
    if redis.call('EXISTS', unpack(ARGV, from, math.min(from + 999, last))) > 0 then return false end
  end
  return true
end
local function meetsExpectation()
  local first, last = list()
  for i = first, last, 4 do
    if not isExpected(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]) then return false end
  end
  first, last = list()
  for i = first, last, 2 do
    if (redis.call('HGET', base .. ':v', ARGV[i]) or '-') ~= ARGV[i + 1] then return false end
  end
  return true
end
`

/**
 * Reads a snapshot. A size limits the bytes of the records of ranges, and of `rest`, which are more keys: only the last record
 * may exceed it. The records after it are left out.
 * @returns nil when the expectation is not met; otherwise the keys and records of references, the revisions, entries and records
 * of ranges, counts, and the records of `rest`
 */
export const READ = `${SHARED}
local size = tonumber(take())
if not areAbsent(list()) or not meetsExpectation() then return false end
local keys, values, records, complete = {}, {}, {}, true
local function textOf(index, member)
  local place = tonumber(index) + 1
  if values[place] and not records[place] then records[place] = decoded(values[place]) end
  local text = records[place] and records[place][member]
  if type(text) == 'string' then return text end
  complete = false
  return ''
end
local first, last = list()
for i = 1, last - first + 1 do
  complete = true
  local key = string.gsub(ARGV[first + i - 1], '{(%d+)%.([%w_]+)}', textOf)
  keys[i] = complete and key
  values[i] = complete and redis.call('GET', base .. ':r:' .. key)
end
local read, bytes = 0, 0
-- Reads records in batches, and stops at the size. How long records are is known from those before.
local function fetch(names)
  local fetched, batch = {}, 16
  while #fetched < #names and not (size and bytes >= size) do
    for _, value in ipairs(redis.call('MGET', unpack(names, #fetched + 1, math.min(#fetched + batch, #names)))) do
      if size and bytes >= size then break end
      fetched[#fetched + 1] = value
      read, bytes = read + 1, bytes + (value and #value or 0)
    end
    batch = math.min(2 * batch, 1000)
    if size and bytes > 0 then batch = math.min(batch, math.ceil((size - bytes) / bytes * read)) end
  end
  return fetched
end
local ranges, counts, rest = {}, {}, {}
first, last = list()
for i = first, last, 6 do
  local index, prefix, names = ARGV[i + 1], ARGV[i + 5], {}
  local entries = redis.call(ARGV[i], base .. ':i:' .. index, ARGV[i + 2], ARGV[i + 3], 'LIMIT', '0', ARGV[i + 4])
  if prefix ~= '-' then
    for j, entry in ipairs(entries) do names[j] = prefix .. (string.match(entry, '.* (.*)') or entry) end
  end
  ranges[#ranges + 1] = { redis.call('HGET', base .. ':v', index), entries, fetch(names) }
end
first, last = list()
for i = first, last do counts[#counts + 1] = redis.call('ZCARD', ARGV[i]) end
first, last = list()
for i = first, last do rest[#rest + 1] = ARGV[i] end
return { keys, values, ranges, counts, fetch(rest) }
`

/**
 * Applies a change. All checks come first and the writes cannot fail, because an error in the middle of a script
 * does not undo its writes. A server that is out of memory refuses the first write of a script, but no later one, and
 * never a DEL. So a commit that only revokes or removes begins with a DEL, which has no effect: all its writes are then
 * accepted. (A script with the flag allow-oom would do the same, but Redis 6 does not know flags.)
 *
 * The outcome is stored. When a commit is resent, an earlier attempt may still be in a network buffer. It must then
 * have the outcome that was replied to the later attempt, so a conflict is stored for resent commits too.
 *
 * The first arguments are how long the outcome is stored, in milliseconds, and "1" for a resent commit.
 * @returns 1 when the change is applied, now or by an earlier attempt; 0 when the expectation is not met; 2 while another
 * turn is held
 */
export const COMMIT = `${SHARED}
local ttl, resent, revision, turn, reduces = take(), take() == '1', take(), take(), take() == '1'
local first, last = list()
local marker, holding, dumping = ARGV[first], ARGV[first + 1], ARGV[first + 2]
-- One command for what is absent almost always.
local isUsual, isMet = areAbsent(first, last), true
if not isUsual then
  local known, holder = unpack(redis.call('MGET', marker, holding))
  if known then
    if resent then redis.call('PEXPIRE', marker, ttl) end
    return tonumber(known)
  end
  if reduces then redis.call('DEL', marker) end
  if holder and holder ~= turn then return 2 end
  isMet = areAbsent(first + 3, last)
elseif reduces then
  redis.call('DEL', marker)
end
local function refuse()
  if resent then redis.call('SET', marker, '0', 'PX', ttl) end
  return 0
end
if not isMet or not meetsExpectation() then return refuse() end
first, last = list()
for i = first, last, 2 do
  if redis.call('ZCARD', ARGV[i]) > tonumber(ARGV[i + 1]) then return refuse() end
end
local appends, records, listed, revised, emptied = {}, { base .. ':n', revision }, {}, {}, {}
local function add(all, one, other)
  all[#all + 1] = one
  all[#all + 1] = other
end
while take() ~= '' do
  local name, prefix, entries = ARGV[at], take(), {}
  local number = tonumber(redis.call('ZRANGE', base .. ':i:' .. name, '-1', '-1')[1] or 0)
  first, last = list()
  for i = first, last do
    number = number + 1
    local entry = string.format('%016.0f', number)
    local key = prefix .. entry
    add(entries, '0', entry)
    add(listed, '0', key)
    add(records, base .. ':r:' .. key, ARGV[i])
  end
  appends[name] = entries
  add(revised, name, revision)
end
first, last = list()
for i = first, last, 3 do
  add(listed, '0', ARGV[i])
  add(records, ARGV[i + 1], ARGV[i + 2])
end
local removedFrom, removedTo = list()
local unlistedFrom, unlistedTo = list()
${SAVE}
inBatches('MSET', records, 1, #records)
inBatches('ZADD', listed, 1, #listed, base .. ':k')
inBatches('DEL', ARGV, removedFrom, removedTo)
inBatches('ZREM', ARGV, unlistedFrom, unlistedTo, base .. ':k')
first, last = list()
for i = first, last, 2 do
  redis.call('ZADD', base .. ':i:' .. ARGV[i], '0', ARGV[i + 1])
  add(revised, ARGV[i], revision)
end
while take() ~= '' do
  local name, key = ARGV[at], base .. ':i:' .. ARGV[at]
  first, last = list()
  inBatches('ZREM', ARGV, first, last, key)
  first, last = list()
  inBatches('ZADD', ARGV, first, last, key)
  if first <= last or redis.call('EXISTS', key) == 1 then
    add(revised, name, revision)
  else
    emptied[#emptied + 1] = name
  end
end
for name, entries in pairs(appends) do inBatches('ZADD', entries, 1, #entries, base .. ':i:' .. name) end
inBatches('HDEL', emptied, 1, #emptied, base .. ':v')
inBatches('HSET', revised, 1, #revised, base .. ':v')
redis.call('SET', marker, '1', 'PX', ttl)
-- A hint for other processes. A user without permission to publish can commit all the same.
for name in pairs(appends) do redis.pcall('PUBLISH', base .. ':w:' .. name, '') end
return 1
`

/** Ends a turn, unless another one has begun. Arguments: the key of the turn, and its id. */
export const END_TURN = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
`
