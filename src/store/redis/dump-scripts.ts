/**
 * The scripts of dumps. A dump yields the records as they were when it began, while others write. It has these keys in addition to
 * the keys of a partition (see `scripts.ts`):
 *
 *     lk:{partition}:d        the dumps in progress: id → the last key that is read. Expires.
 *     lk:{partition}:d:ID     what commits have replaced since a dump began and it has not read yet: a sorted set with
 *                             equal scores, of "key, NUL, record as it was", without the record if there was none. Expires.
 *                             The empty member is always there.
 *
 * A commit saves a record before it changes it for the first time. The dump reads keys in order, and prefers what is saved.
 * What is saved for keys that it has read is removed, so Redis holds at most the records that are still to be read. If the
 * keys have expired, or are lost in a failover, the next batch notices it.
 */

/** Whether one text is after another by its bytes. Lua's own comparison depends on the locale of the server. */
const IS_AFTER = `
local function isAfter(one, other)
  for i = 1, math.min(#one, #other) do
    local byte, otherByte = string.byte(one, i), string.byte(other, i)
    if byte ~= otherByte then return byte > otherByte end
  end
  return #one > #other
end
`

/** A part of the script of commits: saves what a commit is going to replace: `changed` has the keys, and `dumps` the dumps in progress. */
export const SAVE = `${IS_AFTER}
local function save(saved, position, key)
  if not isAfter(key, position) then return end
  if redis.call('ZLEXCOUNT', saved, '[' .. key .. '\\0', '(' .. key .. '\\1') > 0 then return end
  redis.call('ZADD', saved, 0, key .. '\\0' .. (stored(key) or ''))
end
for i = 1, #dumps, 2 do
  local saved, position = base .. ':d:' .. dumps[i], dumps[i + 1]
  if redis.call('ZSCORE', saved, '') then
    for _, key in ipairs(changed) do save(saved, position, key) end
  else
    redis.call('HDEL', base .. ':d', dumps[i])
  end
end
`

/**
 * Begins a dump. Arguments: its id, and a time to live in milliseconds. The DEL has no effect: it makes a server that is
 * out of memory accept the writes after it. If the script arrives again, it changes nothing.
 */
export const BEGIN_DUMP = `
local base, id, ttl = string.sub(KEYS[1], 1, -3), ARGV[1], ARGV[2]
local dumps, saved = base .. ':d', base .. ':d:' .. id
if redis.call('EXISTS', saved) == 1 then return end
redis.call('DEL', saved)
redis.call('ZADD', saved, 0, '')
redis.call('HSET', dumps, id, '')
redis.call('PEXPIRE', saved, ttl)
redis.call('PEXPIRE', dumps, ttl)
`

/**
 * Reads a batch of records, ordered by key. It may run twice. Arguments: the id of the dump, the last key of the batch before
 * or "", a time to live in milliseconds, and the maximum number of keys and of bytes. More bytes are only read for the last
 * record. With the id "", the records are read as they are now.
 * @returns nil when the dump is unknown; otherwise the revision of the last commit, the last key that was read, 1 if it is the
 * last key of all, and keys and records in turn
 */
export const DUMP = `${IS_AFTER}
local base, id, after, ttl = string.sub(KEYS[1], 1, -3), ARGV[1], ARGV[2], ARGV[3]
local limit, size = tonumber(ARGV[4]), tonumber(ARGV[5])
local dumps, saved = base .. ':d', base .. ':d:' .. id
if id ~= '' then
  if redis.call('HEXISTS', dumps, id) == 0 or not redis.call('ZSCORE', saved, '') then return false end
  redis.call('PEXPIRE', saved, ttl)
  redis.call('PEXPIRE', dumps, ttl)
  redis.call('HSET', dumps, id, after)
  if after ~= '' then redis.call('ZREMRANGEBYLEX', saved, '(', '(' .. after .. '\\1') end
end
local function savedAfter(key)
  local low = key == '' and '(' or '(' .. key .. '\\1'
  return redis.call('ZRANGEBYLEX', saved, low, '+', 'LIMIT', 0, 1)[1]
end
local keys = redis.call('ZRANGEBYLEX', base .. ':k', after == '' and '-' or '(' .. after, '+', 'LIMIT', 0, limit)
local position, last, old, entries, bytes = 1, after, savedAfter(after), {}, 0
for step = 1, limit do
  local key, savedKey, record = keys[position], old and string.match(old, '^%Z*'), nil
  if not key and not old or bytes >= size then break end
  if savedKey and not (key and isAfter(savedKey, key)) then
    last, record = savedKey, string.sub(old, #savedKey + 2)
    old = savedAfter(savedKey)
    if key == savedKey then position = position + 1 end
  else
    last, record = key, redis.call('GET', base .. ':r:' .. key)
    if not record then return redis.error_reply('ERR a record is missing') end
    position = position + 1
  end
  if record ~= '' then
    entries[#entries + 1] = last
    entries[#entries + 1] = record
    bytes = bytes + #record
  end
end
local done = not keys[position] and not old and #keys < limit
return { redis.call('GET', base .. ':n') or '', last, done and 1 or 0, entries }
`

/** Ends a dump. Argument: its id. */
export const END_DUMP = `
local base, id = string.sub(KEYS[1], 1, -3), ARGV[1]
redis.call('HDEL', base .. ':d', id)
redis.call('DEL', base .. ':d:' .. id)
`
