import type { Command } from 'commander'
import { addAdminCommand, runAndPrint } from './command.ts'

/** Adds `lanekeeper board`. */
export function addBoardCommands(program: Command): void {
  const board = program.command('board').description('manage boards')

  addAdminCommand(
    board,
    'transfer <workspace> <board> <user>',
    'make a member the creator of a board, for example after its creator has left',
  ).action(runAndPrint('board.transfer', (workspace: string, boardId: string, user: string) => ({ workspace, board: boardId, user })))
}
