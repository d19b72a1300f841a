/** The style of the audit trail, of the use of tokens, and of the pages of a workspace. */
export const activityStyle = `
.trail { overflow-x: auto; background: var(--sheet); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--shadow); margin: 1rem 0 }
.trail table { border-collapse: collapse; width: 100%; font-size: .92rem }
.trail th, .trail td { text-align: left; vertical-align: top; padding: .55rem .8rem; border-bottom: 1px solid var(--line) }
.trail th { color: var(--soft); font-weight: 600; white-space: nowrap }
.trail tr:last-child td { border-bottom: 0 }
.trail time { white-space: nowrap }
.trail .hint { display: block; font-size: .85rem }
.trail .ids { display: block; font-size: .85rem; color: var(--soft) }
.trail code { overflow-wrap: normal; white-space: nowrap }
.trail .agent { max-width: 15rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.token h4 { margin: 0; font-size: 1rem; overflow-wrap: anywhere }
.agent { overflow-wrap: anywhere }
.outcome { font-weight: 600; color: var(--good) }
.outcome.denied, .usage .refused { color: var(--danger) }
.outcome.unknown { color: var(--warn) }
.trail-filters { display: flex; flex-wrap: wrap; align-items: end; gap: .5rem 1rem; margin: 1rem 0 }
.trail-filters label { font-size: .9rem; min-width: 0; max-width: 100% }
.trail-filters select { max-width: 100%; font-weight: 400 }
.usage { display: inline-flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem }
.sparkline { max-width: 100% }
.sparkline .calls { fill: var(--accent) }
.sparkline .refusals { fill: var(--danger) }
.sparkline .none { fill: var(--line) }
@media (max-width: 40rem) {
  .trail thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .trail table, .trail tbody, .trail tr, .trail td { display: block; width: 100% }
  .trail tr { padding: .5rem 0; border-bottom: 1px solid var(--line) }
  .trail td { border: 0; padding: .15rem .8rem }
  .trail .hint { display: inline }
  .trail .agent { display: block; max-width: 100% }
}
`
