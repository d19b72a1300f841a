/** The style of the report: light and dark, for phones, wide screens and paper. The theme of a person overrides that of the system. */
export const reportStyle = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f5f6f8, #0f1216); --sheet: light-dark(#ffffff, #171b21); --raised: light-dark(#eef1f5, #20262e);
  --text: light-dark(#1a1f26, #e6e9ee); --soft: light-dark(#515a67, #a7b1be); --line: light-dark(#d9dee5, #313944);
  --accent: light-dark(#0b57d0, #8ab4f8); --on-accent: light-dark(#ffffff, #0f1216);
  --ok: light-dark(#11632a, #8fdba6); --ok-sheet: light-dark(#def3e4, #14331f);
  --no: light-dark(#a2231b, #f7aca6); --no-sheet: light-dark(#fde6e4, #3c1b19);
  --gone: light-dark(#4b5563, #b6bfcb); --gone-sheet: light-dark(#e6e9ee, #2a313b);
  --scope: light-dark(#714600, #f2c777); --scope-sheet: light-dark(#fdeecf, #372a0e);
  --mono: ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', monospace;
}
:root[data-theme=light] { color-scheme: light }
:root[data-theme=dark] { color-scheme: dark }
* { box-sizing: border-box }
[hidden] { display: none !important }
html { scroll-padding-top: 4rem; -webkit-text-size-adjust: 100% }
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth } }
body { margin: 0; background: var(--ground); color: var(--text); font: .95rem/1.5 system-ui, sans-serif }
header, main, nav ul { width: min(82rem, 100% - 2rem); margin-inline: auto }
header { padding-block: 1.75rem 1.25rem; display: flex; flex-wrap: wrap; gap: 1rem 2rem; justify-content: space-between; align-items: start }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0; letter-spacing: -.015em }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 0 0 .25rem; letter-spacing: -.01em }
h3 { font-size: 1rem; margin: 1.25rem 0 .4rem }
p { margin: .3rem 0 .9rem; max-width: 60rem }
code, .mono { font: .92em var(--mono) }
a { color: var(--accent) }
.soft { color: var(--soft) }
.hash { overflow-wrap: anywhere; font: .8rem var(--mono); color: var(--soft); margin: .4rem 0 0 }
.facts { display: flex; flex-wrap: wrap; gap: .35rem 1.25rem; list-style: none; margin: .75rem 0 0; padding: 0; color: var(--soft) }
.facts .answer { font-family: system-ui, sans-serif }
.brand { margin: 0 0 .2rem; font-weight: 650; color: var(--soft) }
.facts b { color: var(--text); font-variant-numeric: tabular-nums }
nav { position: sticky; top: 0; z-index: 5; background: var(--ground); border-block: 1px solid var(--line) }
nav ul { display: flex; gap: .25rem; list-style: none; margin-block: 0; padding: 0; overflow-x: auto }
nav li:first-child a { padding-left: 0 }
nav a { display: block; padding: .6rem .75rem; color: var(--soft); text-decoration: none; white-space: nowrap; font-weight: 550 }
nav a:hover { color: var(--text); text-decoration: underline; text-underline-offset: .3em }
main { padding-block: 1.5rem 4rem }
section.part { margin-bottom: 2.75rem }
.sheet { background: var(--sheet); border: 1px solid var(--line); border-radius: .7rem }
.scroll { overflow: auto }
.scroll, .tags, .answer { position: relative }
table { border-collapse: separate; border-spacing: 0; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem; border-bottom: 1px solid var(--line) }
tr:last-child > td, tr:last-child > th { border-bottom: 0 }
thead th { font-size: .82rem; color: var(--soft); font-weight: 600; background: var(--raised); white-space: nowrap }
thead tr:first-child > :first-child { border-top-left-radius: .65rem }
thead tr:first-child > :last-child { border-top-right-radius: .65rem }
tbody th { font-weight: 400 }
.id { font: 600 .88rem var(--mono); white-space: nowrap }
.links { white-space: normal; min-width: 11rem }
.id:target, tr:target, tr:target > * { background: var(--scope-sheet) }
.words { max-width: 16rem }
.words b { font: 700 .95rem var(--mono) }
.reason { min-width: 13rem }
.if { min-width: 17rem }
.tags { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem }
.tag { display: inline-block; font: .82rem/1.5 var(--mono); background: var(--raised); border: 1px solid var(--line); border-radius: .35rem; padding: 0 .4rem; overflow-wrap: anywhere }
.tag.met { color: var(--ok); background: var(--ok-sheet); border-color: transparent }
.tag.unmet { color: var(--no); background: var(--no-sheet); border-color: transparent }
.tag i { font-style: normal; color: var(--soft) }
.tag.met i, .tag.unmet i { color: inherit }
.key { display: flex; flex-wrap: wrap; gap: .4rem 1.1rem; list-style: none; padding: 0; margin: 0 0 .9rem; font-size: .88rem; color: var(--soft) }
.answer { display: inline-block; min-width: 2.7rem; text-align: center; font: 650 .82rem/1.6 var(--mono); border-radius: .35rem; padding: 0 .4rem; white-space: nowrap }
.answer.ok { color: var(--ok); background: var(--ok-sheet) }
.answer.r403 { color: var(--no); background: var(--no-sheet) }
.answer.r404, .answer.r401 { color: var(--gone); background: var(--gone-sheet) }
.answer.scope { color: var(--scope); background: var(--scope-sheet) }
.matrix table { font-size: .92rem }
.matrix thead { position: sticky; top: 2.72rem; z-index: 2 }
.matrix thead th { vertical-align: bottom; padding-block: .35rem }
.matrix thead th[colspan] { text-align: center; color: var(--text) }
.matrix .value { text-align: center }
.matrix thead tr:first-child:not(:last-child) th[colspan] { border-bottom-color: transparent; padding-bottom: 0 }
.matrix .first { border-left: 1px solid var(--line) }
.matrix tbody th { min-width: 17rem }
.matrix th .request { display: block; font: .76rem var(--mono); color: var(--soft); overflow-wrap: anywhere }
.matrix .group th { background: var(--ground); font: 650 .82rem system-ui, sans-serif; color: var(--soft); padding-block: .35rem; text-transform: capitalize }
.matrix td { white-space: nowrap; vertical-align: middle }
.matrix tbody td, .matrix tbody th { padding-block: .35rem }
.matrix td.id { font-weight: 400; font-size: .82rem; color: var(--soft) }
.matrix td button { all: unset; box-sizing: border-box; cursor: pointer; border-radius: .4rem; padding: .1rem }
.matrix td button:hover .answer { outline: 2px solid currentColor }
.matrix tbody tr:not(.group):hover > * { background: color-mix(in srgb, var(--raised) 55%, var(--sheet)) }
form { margin: 0 0 .9rem }
.filters { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .6rem .75rem; align-items: end; padding: .9rem 1rem }
.filters label, .what label { display: block; font-size: .8rem; font-weight: 600; color: var(--soft) }
.filters .wide { grid-column: span 2 }
.filters details { grid-column: 1 / -1 }
.filters details[open] summary { margin-bottom: .6rem }
.filters details > div, .what { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .6rem .75rem }
summary { cursor: pointer; color: var(--accent); font-weight: 550; width: fit-content }
select, input { width: 100%; font: inherit; font-size: .9rem; color: inherit; background: var(--ground); border: 1px solid color-mix(in srgb, var(--soft) 60%, var(--line)); border-radius: .4rem; padding: .35rem .5rem }
select.chosen { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent) }
button { font: inherit; font-weight: 600; color: var(--accent); background: none; border: 1px solid currentColor; border-radius: .4rem; padding: .3rem .8rem; cursor: pointer }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.theme { display: flex; align-items: center; gap: .5rem; font-size: .85rem; color: var(--soft) }
.theme select { width: auto }
.status { font-size: .88rem; color: var(--soft); margin: 0 0 .5rem; min-height: 1.4em }
dialog { width: min(44rem, 100vw); height: 100dvh; max-height: none; max-width: none; margin: 0 0 0 auto; border: 0; border-left: 1px solid var(--line); background: var(--sheet); color: var(--text); padding: 0; overflow: auto }
dialog::backdrop { background: rgb(0 0 0 / .4) }
dialog > div { padding: 1.1rem 1.5rem 3rem }
dialog h2 { overflow-wrap: anywhere }
dialog .close { float: right; margin-left: 1rem }
.stage { border-left: 3px solid var(--line); padding: 0 0 .1rem 1rem; margin: 1.25rem 0 }
.stage.pass { border-color: var(--ok) }
.stage.stop { border-color: var(--no) }
.stage h3 { margin-top: 0 }
.stage ul { list-style: none; padding: 0; margin: 0 }
.stage li { margin: .5rem 0 }
.stage .why { display: block; color: var(--soft); font-size: .9rem }
.verdict { font-size: 1.05rem; font-weight: 600 }
.choices { display: flex; flex-wrap: wrap; gap: .4rem; margin: .4rem 0 1rem }
.choices button { font-weight: 400; font-size: .85rem; color: var(--text); border-color: var(--line); text-align: left; padding: .25rem .5rem }
.choices button[aria-pressed=true] { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent) }
meter { width: 100%; min-width: 6rem; height: .7rem; margin-top: .4rem; appearance: none; display: block; border: 0; border-radius: 1rem; background: var(--gone-sheet); overflow: hidden }
meter::-webkit-meter-bar { background: var(--gone-sheet); border: 0; border-radius: 1rem; height: .7rem }
meter::-webkit-meter-optimum-value { background: var(--ok) } meter::-webkit-meter-suboptimum-value { background: var(--scope) }
meter::-moz-meter-bar { background: var(--ok) }
.num { font-variant-numeric: tabular-nums; white-space: nowrap }
.sign { font: 700 .9rem var(--mono) }
.widening { color: var(--no) } .narrowing { color: var(--soft) } .response { color: var(--scope) }
.skip, .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.skip:focus { position: static; width: auto; height: auto; clip-path: none }
.js { display: none } .has-js .js { display: revert } .has-js .filters.js { display: grid } .has-js .theme.js { display: flex }
@media (max-width: 70rem) {
  .matrix.scroll { max-height: 80vh }
  .matrix thead { top: 0 }
  .matrix tbody th { position: sticky; left: 0; z-index: 1; background: var(--sheet); border-right: 1px solid var(--line) }
  .matrix thead tr:first-child th:first-child { position: sticky; left: 0; z-index: 3 }
}
@media (min-width: 70.01rem) { .matrix.scroll { overflow: visible } }
@media (max-width: 46rem) {
  html { scroll-padding-top: 3.5rem }
  header { padding-top: 1.1rem }
  .filters { grid-template-columns: 1fr 1fr }
  .matrix tbody th { min-width: 10.5rem; max-width: 11rem; position: sticky; left: 0 }
  .matrix th, .matrix td { padding-inline: .5rem }
  .matrix td.id, .matrix thead th.of-id { display: none }
  .matrix td[colspan]:not([colspan='1']) { text-align: left }
  .matrix th .mono { overflow-wrap: anywhere }
  .stack, .stack tbody, .stack tr, .stack th, .stack td { display: block }
  .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .stack tr { padding: .6rem .9rem; border-bottom: 1px solid var(--line) }
  .stack tr:last-child { border-bottom: 0 }
  .stack th, .stack td { border: 0; padding: .12rem 0 }
  .stack .words { max-width: none; padding-top: .3rem }
  .stack .id { white-space: normal }
  .stack td[data-label]::before { content: attr(data-label); font-size: .78rem; color: var(--soft) }
  .stack td[data-label] { padding-bottom: .3rem }
  .reason, .if, .links { min-width: 0 }
  dialog { width: 100vw; border: 0 }
  dialog > div { padding-inline: 1rem }
}
@media print {
  :root { color-scheme: light; --ground: #ffffff }
  :root { font-size: 9.5pt }
  body { font-size: 1rem }
  header, main { width: 100% }
  nav, .js, .has-js .js, .has-js .filters.js, .skip, dialog { display: none !important }
  .scroll { overflow: visible } .matrix.scroll { max-height: none }
  .sheet { border-radius: 0 }
  .matrix thead, .matrix tbody th { position: static }
  .matrix tbody th { min-width: 0 }
  thead { display: table-header-group } tr, .stage { break-inside: avoid } h2 { break-after: avoid }
  th, td { padding: .2rem .4rem }
  .answer, .tag, .matrix td button { print-color-adjust: exact }
  .reason, .if, .links, .words { min-width: 0 }
  section.part { break-inside: auto; margin-bottom: 1.5rem }
  a { color: inherit; text-decoration: none }
}
`
