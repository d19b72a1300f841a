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
  bug('store/contract.test', 'if not meetsExpectation() then return refuse() end', ''),
  bug('store/contract.test', 'if revisionOf(key) ~= wanted and not', 'if false and not'),
  bug('store/contract.test', "if (redis.call('HGET', base .. ':v', expected[1]) or '') ~= expected[2] then return false end", ''),
  bug('store/contract.test', '> limit[2] then return refuse() end', '> limit[2] + 1 then return refuse() end'),
  bug('store/contract.test', "  redis.call('DEL', base .. ':r:' .. key)\n", ''),
  bug('store/contract.test', "inBatches('ZREM', removed, name)", ''),
  bug('store/contract.test', "inBatches('ZADD', scored, name)", ''),
  bug('store/redis', "redis.call('SET', marker, '1', 'PX', ttl)", ''),
  bug('store/redis', "if resent then redis.call('SET', marker, '0', 'PX', ttl) end", ''),
  bug('store/redis-read-cache', 'string.sub(ARGV[4] ..', `string.sub(request.revision .. ' {"records":[],"indexes":[]}' ..`),
  bug('store/redis-commit', "string.match(ARGV[4], '^[^ ]+')", 'request.revision'),
  bug('store/redis-scripts', 'if holder and holder ~= request.lease then return 2 end', ''),
  bug('store/redis store/contract-append', "entries[i] = string.format('%016.0f', last + i)", "entries[i] = string.format('%016.0f', i)"),
  bug('store/redis store/contract.test', 'if not meetsExpectation() then return false end', ''),
  bug('store/contract-dump store/redis-dump', 'if not isAfter(key, position) then return end', 'if true then return end'),
  bug(
    'store/redis store/contract',
    "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end",
    "redis.call('DEL', KEYS[1])",
  ),
]
