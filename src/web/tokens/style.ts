/** The style of the pages of tokens. */
export const tokensStyle = `
.tokens { list-style: none; padding: 0; margin: .75rem 0; background: var(--sheet); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--shadow) }
.token { padding: .8rem 1.1rem; display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .35rem 1rem; align-items: start }
.token + .token { border-top: 1px solid var(--line) }
.token > .head { justify-content: flex-start; gap: .25rem .75rem }
.token > dl { grid-column: 1; grid-template-columns: max-content minmax(0, 1fr) max-content minmax(0, 1fr); margin: 0; font-size: .9rem; gap: .15rem .75rem }
.token > .actions { grid-column: 2; grid-row: 1 / 3; margin: 0; gap: .5rem; flex-wrap: nowrap }
.token > .actions .button { min-height: 2.2rem; padding-inline: .75rem }
.token:not(.active) h3 { color: var(--soft) }
.token .marks { display: inline-flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: center }
.scope { background: var(--lane); border-radius: .3rem; padding: .05rem .4rem; font-size: .82rem }
section > .head > h2 { margin: 0 }
.ended { margin-top: .75rem }
.ended > summary, .examples summary { cursor: pointer; padding: .35rem 0; color: var(--soft); font-weight: 500; width: fit-content }
.search { margin: 1.5rem 0 0 }
.search .row { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin-top: .3rem }
.search .row input[type=search] { flex: 1 1 12rem; margin: 0 }
.search .hint { margin-top: .4rem }
.lifetime .presets { display: flex; flex-wrap: wrap; gap: .35rem 1.5rem; margin: .4rem 0 .6rem }
.preset { display: grid; grid-template-columns: auto auto; gap: 0 .45rem; align-items: center; justify-content: start }
.preset label { font-weight: 500 }
.preset input { margin: 0; width: 1.05rem; height: 1.05rem; accent-color: var(--accent) }
.preset .hint { grid-column: 2; font-size: .8rem }
.custom { display: flex; flex-wrap: wrap; gap: .25rem .45rem; align-items: center }
.custom input[type=radio] { margin: 0; width: 1.05rem; height: 1.05rem; accent-color: var(--accent) }
.custom label { font-weight: 500 }
.custom input[type=number] { margin: 0 .2rem 0 .35rem; width: 5rem }
.examples details { background: var(--sheet); border: 1px solid var(--line); padding: .25rem 1.1rem }
.examples details + details { border-top: 0 }
.examples details:first-of-type { border-radius: var(--radius) var(--radius) 0 0 }
.examples details:last-of-type { border-radius: 0 0 var(--radius) var(--radius) }
.examples details[open] { padding-bottom: 1rem }
.examples pre { font-size: .88rem }
[data-copy] { min-width: 6rem }
@media (max-width: 40rem) {
  .token { grid-template-columns: minmax(0, 1fr) }
  .token > dl { grid-template-columns: max-content minmax(0, 1fr) }
  .token > .actions { grid-column: 1; grid-row: auto }
}
.allowances + .field { margin-top: 1.25rem }
dl.allowances { display: block }
dl.allowances dt { color: var(--text); margin-top: .75rem }
dl.allowances dt code { font-weight: 700 }
dl.allowances ul { margin: .25rem 0 0; padding-left: 1.2rem }
.state { font-size: .85rem; font-weight: 600; color: var(--soft); border: 1px solid currentColor; border-radius: 1rem; padding: 0 .6rem }
.state.active { color: var(--good) }
.expires { white-space: nowrap; border-radius: .3rem; padding: 0 .4rem; background: var(--warn-sheet); color: var(--warn) }
.expires.near { outline: 1px solid currentColor }
.expires.urgent { background: var(--danger-sheet); color: var(--danger) }
.secret pre { margin: .3rem 0 .5rem; padding: .7rem; background: var(--ground); border: 1px solid var(--line); border-radius: .4rem; white-space: pre-wrap }
.secret h2 { margin-top: .25rem }
.secret + .secret { margin-top: 1.5rem }
.secret code { user-select: all; overflow-wrap: anywhere }
`
