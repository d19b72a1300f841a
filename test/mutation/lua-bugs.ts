/** A bug planted in a Lua script of {@link SCRIPTS}, which Stryker does not change, and the suites that must notice it. */
export interface LuaBug {
  readonly text: string
  readonly replacement: string
  readonly suites: string
}

/** The files of the scripts. */
export const SCRIPTS: readonly string[] = ['src/store/redis/scripts.ts', 'src/store/redis/dump-scripts.ts']

const bug = (suites: string, text: string, replacement: string): LuaBug => ({ suites, text, replacement })

export const LUA_BUGS: readonly LuaBug[] = [
  bug('store/contract.test', 'if not isRecordAsExpected(items[at + 1], items[at + 2], items[at + 3]) then return refuse() end', ''),
  bug('store/contract.test', 'if not isIndexAsExpected(items[at + 1], items[at + 2]) then return refuse() end', ''),
  bug('store/contract.test', 'return found == revision or', 'return true or'),
  bug('store/contract.test', "(redis.call('HGET', base .. ':v', name) or '') == revision", 'true'),
  bug(
    'store/contract.test',
    '> tonumber(items[at + 2]) then return refuse() end',
    '> tonumber(items[at + 2]) + 1 then return refuse() end',
  ),
  bug('store/contract.test', "  redis.call('DEL', base .. ':r:' .. key)\n", ''),
  bug('store/contract.test', "inBatches('ZREM', name, items, at + additions + 1, at + additions + removals)", ''),
  bug('store/contract.test', "inBatches('ZADD', name, scored, 1, #scored)\n  end", 'end'),
  bug('store/contract-dump store/redis-dump', "put(items[at + 1], items[at + 2] == '1')", 'put(items[at + 1], false)'),
  bug('store/redis', "redis.call('SET', marker, '1', 'PX', ttl)", ''),
  bug('store/redis', "if resent then redis.call('SET', marker, '0', 'PX', ttl) end", ''),
  bug(
    'store/redis-read-cache',
    "redis.call('APPEND', KEYS[1], line)",
    `redis.call('APPEND', KEYS[1], '\\n{"records":[],"indexes":[]} ' .. state)`,
  ),
  bug('store/redis-scripts', "string.match(tail, '^.*%s(.*)$') or tail", "''"),
  bug(
    'store/redis-commit',
    'revisions[#revisions + 1] = index\n    revisions[#revisions + 1] = state',
    'revisions[#revisions + 1] = index\n    revisions[#revisions + 1] = revision',
  ),
  bug('store/redis-scripts', "if holder and holder ~= items[1] and redis.call('PTTL', base .. ':t') > 0 then return 2 end", ''),
  bug('store/redis store/contract-append', "local entry = string.format('%016.0f', last + i)", "local entry = string.format('%016.0f', i)"),
  bug('store/redis store/contract.test', 'if not isRecordAsExpected(expected[1], expected[2], expected[3]) then return false end', ''),
  bug('store/redis store/contract.test', 'if not isIndexAsExpected(expected[1], expected[2]) then return false end', ''),
  bug('store/contract-dump store/redis-dump', 'if not isAfter(key, position) then return end', 'if true then return end'),
  bug(
    'store/redis store/contract',
    "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end",
    "redis.call('DEL', KEYS[1])",
  ),
]
