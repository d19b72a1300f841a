import type { Command } from 'commander'
import { answer, operatorCommand, type Common } from './command.ts'

/** `lanekeeper user …` */
export function addUserCommands(program: Command): void {
  const user = program.command('user').description('add and list people')
  operatorCommand(user, 'add <name>', 'add a person, who belongs to no workspace yet')
    .option('--avatar <url>', 'address of a picture (https)')
    .action((name: string, { avatar, ...options }: Common & { avatar?: string }) => answer(options, 'user.add', { name, avatar }))
  operatorCommand(user, 'list', 'list all people').action((options: Common) => answer(options, 'user.list', {}))
}
