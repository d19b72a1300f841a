import { accountStyle } from './account/style.ts'
import { activityStyle } from './activity/style.ts'
import { baseStyle } from './base-style.ts'
import { boardsStyle } from './boards/style.ts'
import { tokensStyle } from './tokens/style.ts'

/** The style sheet of the web app: the base, and the style of each part. */
export const style = [baseStyle, boardsStyle, tokensStyle, accountStyle, activityStyle].join('')
