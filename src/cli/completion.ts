import type { Command } from 'commander'
import { ConfigError } from '../config.ts'
import { operations } from '../resources/table.ts'
import { commandOf } from './api/command.ts'

/** What can follow after words of the command line, such as `workspace` or `api cards.create`. */
type Words = ReadonlyMap<string, readonly string[]>

const renderers: Readonly<Record<string, (words: Words) => string>> = { bash: renderBash, zsh: renderZsh, fish: renderFish }

/**
 * Renders the completion of a shell. It contains all commands, operations and options, so that it starts no process.
 * @throws {ConfigError} if the shell is not known
 */
export function renderCompletion(program: Command, shell: string): string {
  const render = Object.hasOwn(renderers, shell) ? renderers[shell]! : undefined
  if (render === undefined) throw new ConfigError(`there is no completion for "${shell}": it must be ${Object.keys(renderers).join(', ')}`)
  return render(wordsOf(program))
}

function wordsOf(program: Command): Words {
  const words = new Map<string, readonly string[]>()
  const add = (path: string, command: Command): void => {
    words.set(path, command.commands.length > 0 ? command.commands.map((child) => child.name()) : optionsOf(command))
    for (const child of command.commands) add(`${path} ${child.name()}`.trim(), child)
  }
  add('', program)
  words.set('completion', Object.keys(renderers))
  words.set(
    'api',
    operations.map(({ id }) => id),
  )
  for (const row of operations) words.set(`api ${row.id}`, optionsOf(commandOf(row)))
  return words
}

function optionsOf(command: Command): string[] {
  return [...command.options.flatMap(({ long }) => long ?? []), '--help']
}

/** The words that are followed by others that are no options. */
function groupsOf(words: Words): string[] {
  return [...words.keys()].filter((path) => path !== '' && [...words.keys()].some((other) => other.startsWith(`${path} `)))
}

function renderBash(words: Words): string {
  const cases = [...words].filter(([path]) => path !== '').map(([path, next]) => `    '${path}') words='${next.join(' ')}' ;;`)
  return `_lanekeeper() {
  local words='' path="\${COMP_WORDS[1]}"
  case "$path" in
    ${groupsOf(words).join('|')}) [ "$COMP_CWORD" -gt 2 ] && path="$path \${COMP_WORDS[2]}" ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && path=''
  case "$path" in
    '') words='${words.get('')!.join(' ')}' ;;
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _lanekeeper lanekeeper`
}

function renderZsh(words: Words): string {
  return `autoload -U +X compinit bashcompinit && compinit -u && bashcompinit\n${renderBash(words)}`
}

function renderFish(words: Words): string {
  const lines = [...words].map(([path, next]) => {
    const isGroup = path === '' || groupsOf(words).includes(path) || path === 'completion'
    return `complete -c lanekeeper ${isGroup ? '-f ' : ''}-n "__lanekeeper_after ${isGroup ? 'exactly' : 'at_least'} '${path}'" -a '${next.join(' ')}'`
  })
  return `function __lanekeeper_after
  set -l words (commandline -opc)
  set -e words[1]
  if test $argv[1] = exactly
    test "$words" = "$argv[2]"
  else
    string match -q -- "$argv[2] *" "$words "
  end
end
${lines.join('\n')}`
}
