/** The only style sheet: light and dark, for phones and wide screens. */
export const style = `
:root {
  color-scheme: light dark;
  --ground: #f6f7f9; --sheet: #ffffff; --text: #1b1f24; --soft: #525a65; --line: #d3d8df;
  --accent: #0b57d0; --on-accent: #ffffff; --danger: #b3261e; --good: #146c2e; --warn: #7a4b00;
  --good-sheet: #e5f4e9; --warn-sheet: #fff3dc; --danger-sheet: #fdeceb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #101317; --sheet: #191d23; --text: #e7eaee; --soft: #a9b2bd; --line: #39414b;
    --accent: #8ab4f8; --on-accent: #10131a; --danger: #f5a8a2; --good: #8fd6a4; --warn: #f3c677;
    --good-sheet: #16301f; --warn-sheet: #33280f; --danger-sheet: #391b19;
  }
}
* { box-sizing: border-box }
[hidden] { display: none !important }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
header, main { width: min(46rem, 100% - 2rem); margin: 0 auto }
header { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1.5rem; padding-block: 1rem; border-bottom: 1px solid var(--line) }
main { padding-block: 1.5rem 4rem }
main:focus { outline: none }
.brand { margin: 0; font-weight: 700 }
.brand span { font-weight: 400; color: var(--soft) }
nav, nav .hint { min-width: 0; overflow-wrap: anywhere }
nav, nav form, .actions, .head { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem }
nav button { margin-inline: -.4rem }
.head { justify-content: space-between }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 1rem }
h2 { font-size: 1.15rem; margin: 1.5rem 0 .5rem }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere }
h1, h2, li, dd { overflow-wrap: anywhere }
a { color: var(--accent) }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere }
.hint { color: var(--soft); font-size: .9rem; margin: 0; font-weight: 400 }
.hint + .field, .allowances + .field { margin-top: 1.25rem }
.card, .token { background: var(--sheet); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem 1.25rem; margin: 1rem 0 }
.card > :last-child, .token > :last-child { margin-bottom: 0 }
.card > :first-child, .card > [type=hidden] + :not([type=hidden]) { margin-top: 0 }
.head + .hint { margin-top: .5rem }
section { margin-top: 2rem }
.tokens { list-style: none; padding: 0; margin: 0 }
.field, fieldset { margin: 0 0 1.25rem; border: 0; padding: 0 }
label, legend { font-weight: 600; padding: 0 }
input:not([type=radio]) { display: block; width: 100%; max-width: 28rem; margin-top: .3rem; padding: .55rem .7rem; font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--soft); border-radius: .4rem }
input:not([type=radio])[type=number] { max-width: 8rem }
input[aria-invalid] { border-color: var(--danger) }
.error { color: var(--danger); margin: .3rem 0 0 }
.error::first-letter { text-transform: uppercase }
.option { display: grid; grid-template-columns: auto 1fr; gap: 0 .6rem; padding: .5rem 0 }
.option .hint { grid-column: 2 }
.option input { margin: .35rem 0 0; width: 1.05rem; height: 1.05rem; accent-color: var(--accent) }
button, .button { display: inline-block; padding: .45rem .95rem; font: inherit; font-weight: 600; text-decoration: none; cursor: pointer; color: var(--accent); background: transparent; border: 1px solid currentColor; border-radius: .4rem }
.primary { color: var(--on-accent); background: var(--accent); border-color: var(--accent) }
.danger { color: var(--danger) }
.primary.danger { color: var(--sheet); background: var(--danger); border-color: var(--danger) }
.quiet { border-color: transparent; padding-inline: .4rem }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: .75rem 0 }
dt { color: var(--soft) }
dd { margin: 0 }
dl.allowances { display: block }
dl.allowances dt { color: var(--text); margin-top: .75rem }
dl.allowances dt code { font-weight: 700 }
dl.allowances ul { margin: .25rem 0 0; padding-left: 1.2rem }
.state { font-size: .85rem; font-weight: 600; color: var(--soft); border: 1px solid currentColor; border-radius: 1rem; padding: 0 .6rem }
.state.active { color: var(--good) }
.token:not(.active) h3 { color: var(--soft) }
.expires { white-space: nowrap; border-radius: .3rem; padding: 0 .4rem; background: var(--warn-sheet); color: var(--warn) }
.expires.near { outline: 1px solid currentColor }
.expires.urgent { background: var(--danger-sheet); color: var(--danger) }
.notice { border-radius: .4rem; padding: .6rem .9rem; background: var(--good-sheet); color: var(--good) }
.notice.warning { background: var(--warn-sheet); color: var(--warn) }
.notice.error { background: var(--danger-sheet); color: var(--danger) }
.secret pre { margin: .3rem 0 .5rem; padding: .7rem; background: var(--ground); border: 1px solid var(--line); border-radius: .4rem; white-space: pre-wrap }
.secret h2 { margin-top: .25rem }
.secret + .secret { margin-top: 1.5rem }
.secret code { user-select: all; overflow-wrap: anywhere }
.skip, .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.skip:focus { position: static; width: auto; height: auto; clip-path: none }
@media (max-width: 22rem) { dl { display: block } dd { margin-bottom: .5rem } }
`
