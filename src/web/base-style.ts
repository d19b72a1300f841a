/**
 * The base of every page: colors, type, the header, forms and notices, light and dark, for phones, wide screens and print. The style of
 * one part is in the folder of that part, and uses the custom properties of this one.
 */
export const baseStyle = `
:root {
  color-scheme: light dark;
  --ground: #f4f5f8; --sheet: #ffffff; --lane: #eaecf1; --text: #1b2027; --soft: #555e6b; --line: #dde1e8; --edge: #7c8796;
  --accent: #3350c4; --accent-sheet: #e9edfc; --on-accent: #ffffff; --danger: #b3261e; --good: #146c2e; --warn: #7a4b00;
  --good-sheet: #e3f3e8; --warn-sheet: #fff1d6; --danger-sheet: #fdeae8;
  --shadow: 0 1px 2px rgb(20 28 44 / .07), 0 1px 4px rgb(20 28 44 / .04); --float: 0 4px 12px rgb(20 28 44 / .1), 0 16px 40px rgb(20 28 44 / .14);
  --radius: .6rem; --gutter: clamp(1rem, 2.5vw, 2rem);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1115; --sheet: #1a1f26; --lane: #14181d; --text: #e5e9ee; --soft: #a1abb8; --line: #2b323c; --edge: #68737f;
    --accent: #a3b6ff; --accent-sheet: #232b45; --on-accent: #10131a; --danger: #f5a8a2; --good: #8fd6a4; --warn: #f3c677;
    --good-sheet: #16301f; --warn-sheet: #33280f; --danger-sheet: #391b19;
    --shadow: 0 1px 2px rgb(0 0 0 / .4); --float: 0 4px 12px rgb(0 0 0 / .5), 0 16px 40px rgb(0 0 0 / .5);
  }
}
* { box-sizing: border-box }
[hidden] { display: none !important }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { margin: 0; min-height: 100vh; min-height: 100dvh; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif }
main { width: min(46rem, 100% - 2rem); margin: 0 auto; padding-block: 2rem 4rem }
.wide main { width: auto; margin: 0; padding: 1.25rem var(--gutter) 2rem }
.medium main { width: min(68rem, 100% - 2rem) }
main:focus { outline: none }
body > header { display: flex; flex-wrap: wrap; align-items: center; gap: 0 1.5rem; min-height: 3.25rem; padding: 0 var(--gutter); background: var(--sheet); border-bottom: 1px solid var(--line) }
.brand { display: inline-flex; align-items: center; gap: .55rem; margin: 0; font-weight: 700; letter-spacing: -.01em; color: var(--text); text-decoration: none }
.brand svg { width: 1.35rem; height: 1.35rem; flex: none }
.brand a { color: inherit; text-decoration: none }
.brand span { font-weight: 400; color: var(--soft) }
.sections { display: flex; align-self: stretch; gap: .25rem; min-width: 0; overflow-x: auto; scrollbar-width: none }
.sections a { display: flex; align-items: center; min-height: 3.25rem; padding: .15rem .65rem 0; color: var(--soft); text-decoration: none; white-space: nowrap; font-size: .94rem; font-weight: 500; border-bottom: 2px solid transparent }
.sections a:hover { color: var(--text) }
.sections a[aria-current] { color: var(--text); border-color: var(--accent) }
.sections a:focus-visible { outline-offset: -4px; border-radius: .5rem }
.aside { margin-left: auto; display: flex; align-items: center; gap: 1rem; font-size: .94rem }
.menu { position: relative; margin-left: auto }
.menu > summary { display: flex; align-items: center; min-height: 2.75rem; padding: .2rem; list-style: none; cursor: pointer; border-radius: 2rem }
.menu > summary::-webkit-details-marker { display: none }
.menu > div { position: absolute; z-index: 20; right: 0; top: calc(100% + .15rem); display: grid; gap: .15rem; min-width: 14rem; max-width: calc(100vw - 2rem); padding: .5rem; background: var(--sheet); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--float) }
.menu .hint { padding: .35rem .6rem .5rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere }
.menu form { display: grid; gap: .15rem; padding-top: .35rem }
.menu a, .menu button { padding: .5rem .6rem; border: 0; border-radius: .4rem; color: var(--text); text-align: left; text-decoration: none; font-weight: 500; font-size: .94rem }
.menu a:hover, .menu button:hover { background: var(--ground) }
.avatar { display: inline-grid; place-items: center; flex: none; width: 1.75rem; height: 1.75rem; border-radius: 50%; background: var(--accent-sheet); color: var(--accent); font-size: .7rem; font-weight: 700; line-height: 1; letter-spacing: .01em; text-transform: uppercase }
.actions, .head { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem }
.head { justify-content: space-between }
h1 { font-size: 1.55rem; line-height: 1.25; letter-spacing: -.015em; margin: 0 0 1rem; text-wrap: balance }
h2 { font-size: 1.15rem; letter-spacing: -.01em; margin: 1.5rem 0 .5rem }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere }
h1, h2, li, dd { overflow-wrap: anywhere }
a { color: var(--accent); text-underline-offset: .15em }
code { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere }
pre code { font-size: inherit }
.hint { color: var(--soft); font-size: .9rem; margin: 0; font-weight: 400 }
.hint + .field { margin-top: 1.25rem }
.card { background: var(--sheet); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--shadow); padding: 1.25rem 1.4rem; margin: 1rem 0 }
.card > :last-child { margin-bottom: 0 }
.card > :first-child, .card > [type=hidden] + :not([type=hidden]) { margin-top: 0 }
.head + .hint { margin-top: .5rem }
section { margin-top: 2rem }
.field, fieldset { margin: 0 0 1.25rem; border: 0; padding: 0; min-width: 0 }
label, legend { font-weight: 600; padding: 0 }
input:not([type=radio], [type=checkbox]), select, textarea { display: block; width: 100%; max-width: 28rem; min-height: 2.6rem; margin-top: .3rem; padding: .5rem .7rem; font: inherit; color: inherit; background: var(--sheet); border: 1px solid var(--edge); border-radius: .45rem }
input[type=number] { max-width: 8rem }
input[aria-invalid] { border-color: var(--danger) }
.error { color: var(--danger); margin: .3rem 0 0 }
.error::first-letter { text-transform: uppercase }
.option { display: grid; grid-template-columns: auto 1fr; gap: 0 .6rem; padding: .5rem 0 }
.option .hint { grid-column: 2 }
.option input { margin: .35rem 0 0; width: 1.05rem; height: 1.05rem; accent-color: var(--accent) }
button, .button { display: inline-flex; align-items: center; justify-content: center; gap: .4rem; min-height: 2.4rem; padding: .4rem .95rem; font: inherit; font-weight: 600; text-decoration: none; cursor: pointer; color: var(--accent); background: transparent; border: 1px solid currentColor; border-radius: .45rem }
button:hover, .button:hover { background: var(--accent-sheet) }
.primary, .primary:hover { color: var(--on-accent); background: var(--accent); border-color: var(--accent) }
.primary:hover { filter: brightness(1.08) }
.danger { color: var(--danger) }
.danger:hover { background: var(--danger-sheet) }
.primary.danger, .primary.danger:hover { color: var(--sheet); background: var(--danger); border-color: var(--danger) }
.quiet { border-color: transparent; padding-inline: .4rem }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: .75rem 0 }
dt { color: var(--soft) }
dd { margin: 0 }
.notice { border-radius: .45rem; padding: .6rem .9rem; background: var(--good-sheet); color: var(--good) }
.notice.warning { background: var(--warn-sheet); color: var(--warn) }
.notice.error { background: var(--danger-sheet); color: var(--danger) }
.skip, .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.skip:focus { position: static; width: auto; height: auto; clip-path: none }
@media (max-width: 40rem) {
  body > header:has(.sections) { padding-top: .25rem }
  .sections { order: 3; width: calc(100% + 2 * var(--gutter)); margin-inline: calc(-1 * var(--gutter)); padding-inline: calc(var(--gutter) - .65rem) }
  .sections a { min-height: 2.75rem }
}
@media (max-width: 22rem) { dl { display: block } dd { margin-bottom: .5rem } }
@media (prefers-reduced-motion: no-preference) { a, button, .button { transition: background-color .12s, color .12s, border-color .12s } }
@media print {
  :root { --ground: #fff; --lane: #fff; --shadow: none; --line: #bbb }
  body > header, .skip, form, .actions { display: none !important }
  main, .wide main { width: auto; padding: 0 }
}
`
