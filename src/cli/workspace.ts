import type { Command } from 'commander'
import { runAndPrint, operatorCommand, type Common } from './command.ts'

/** `lanekeeper workspace …` */
export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('create and list workspaces')
  operatorCommand(workspace, 'create <name>', 'create an empty workspace').action((name: string, options: Common) =>
    runAndPrint(options, 'workspace.create', { name }),
  )
  operatorCommand(workspace, 'list', 'list all workspaces').action((options: Common) => runAndPrint(options, 'workspace.list', {}))
}
