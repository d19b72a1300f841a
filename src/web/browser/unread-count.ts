/** The script of pages that have no other part that is live: the count of unread notices. */
import { countNotices } from './notices.ts'

countNotices()
