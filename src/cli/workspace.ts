import type { Command } from 'commander'
import { addAdminCommand, runAndPrint } from './command.ts'

/** Adds `lanekeeper workspace`. */
export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('create and list workspaces')

  addAdminCommand(workspace, 'create <name>', 'create an empty workspace').action(
    runAndPrint('workspace.create', (name: string) => ({ name })),
  )

  addAdminCommand(workspace, 'list', 'list all workspaces').action(runAndPrint('workspace.list', () => ({})))
}
