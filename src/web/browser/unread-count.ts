/** The script of pages that have no other part that is live: the count of unread notices, and the search in everything. */
import { countNotices } from './notices.ts'
import { searchEverywhere } from './search-everywhere.ts'

countNotices()
searchEverywhere()
