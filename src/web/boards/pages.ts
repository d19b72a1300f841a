import type { Page } from '../page-context.ts'
import { attachmentPage } from './attachment.ts'
import { boardPage } from './board-page.ts'
import { cardPage } from './card-page.ts'
import { eventsPage } from './live.ts'
import { boardsPage } from './overview-page.ts'

/** The pages of boards. They only read, and accept a session and no token. */
export const boardPages: readonly Page[] = [boardsPage, boardPage, cardPage, attachmentPage, eventsPage]
