/** The style of the boards. */
export const boardsStyle = `
.icon { width: 1em; height: 1em; flex: none; fill: none; stroke: currentColor; stroke-width: 1.5; stroke-linecap: round; stroke-linejoin: round }
.dot { width: .6rem; height: .6rem; flex: none; border-radius: 50%; overflow: hidden }
.band { width: 100%; height: 2.4rem; display: block }
.tint-0 { background: #dbe6ff; color: #1f4397 } .tint-1 { background: #d8f1e1; color: #14562f } .tint-2 { background: #fde4d3; color: #83390a }
.tint-3 { background: #f3dffb; color: #6a2389 } .tint-4 { background: #fbe0e7; color: #8c1c3f } .tint-5 { background: #d5eff4; color: #0d5262 }
@media (prefers-color-scheme: dark) {
  .tint-0 { background: #22335c; color: #b9cdff } .tint-1 { background: #17402a; color: #a5e3bf } .tint-2 { background: #4b2c15; color: #ffcda8 }
  .tint-3 { background: #432152; color: #ecc6fb } .tint-4 { background: #4d1f2f; color: #ffc3d3 } .tint-5 { background: #123f4a; color: #a7e4f2 }
}
.empty { padding: 1.5rem; border: 1px dashed var(--edge); border-radius: var(--radius); color: var(--soft) }
.boards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(15rem, 100%), 1fr)); gap: 1rem; margin: 1rem 0 0; padding: 0; list-style: none }
.board-link { display: block; height: 100%; overflow: hidden; background: var(--sheet); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--shadow); color: var(--text); text-decoration: none }
.board-link strong, .board-link > .hint { display: block; padding: 0 1rem }
.board-link strong { padding-top: .7rem; line-height: 1.35 }
.board-link > .hint { padding-bottom: .9rem; font-size: .85rem }
.board-link:hover { border-color: var(--edge) }
.crumbs { display: flex; flex-wrap: wrap; gap: 0 .45rem; font-size: .9rem; color: var(--soft) }
.crumbs a { color: inherit }
.board-head { display: flex; flex-wrap: wrap; align-items: center; gap: 0 1rem }
.board-head .crumbs { width: 100% }
.board-head h1 { display: flex; align-items: center; gap: .55rem; margin: .1rem 0 .6rem; min-width: 0 }
.board-head h1 .dot { width: .9rem; height: .9rem; border-radius: .25rem }
.private { display: inline-flex; color: var(--soft); font-size: 1.1rem }
.live { display: inline-flex; align-items: center; gap: .4rem; margin: 0 0 .35rem; padding: .1rem .6rem; border-radius: 1rem; background: var(--good-sheet); color: var(--good); font-size: .8rem; font-weight: 600 }
.live::before { content: ''; width: .5rem; height: .5rem; border-radius: 50%; background: currentColor }
.live:not([data-state=live]) { background: var(--warn-sheet); color: var(--warn) }
.about { margin: 0 0 .75rem; max-width: 46rem }
.about summary { cursor: pointer; color: var(--soft); font-size: .9rem }
.board-filter { font-weight: 400 }
.board-filters { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; margin: 0 }
.board-filter select, .board-filter input:not([type=radio], [type=checkbox]) { width: auto; max-width: 13rem; min-height: 2.25rem; margin: 0; padding: .25rem .6rem; font-size: .9rem; text-overflow: ellipsis }
.board-filter.name input:not([type=radio], [type=checkbox]) { width: 13rem }
.board-filter .chosen { border-color: var(--accent); background: var(--accent-sheet); color: var(--text) }
.board-filters button, .board-filters .button { min-height: 2.25rem; padding-block: .2rem; font-size: .9rem }
.found { margin: .3rem 0 .45rem; min-height: 1.35rem }
.lanes { display: flex; align-items: flex-start; gap: .85rem; margin-inline: calc(-1 * var(--gutter)); padding: .15rem var(--gutter) 1rem; overflow-x: auto; scroll-padding-inline: var(--gutter); scrollbar-width: thin; scrollbar-color: var(--edge) transparent }
.lane { position: relative; display: flex; flex: 0 0 17.5rem; flex-direction: column; max-height: max(24rem, calc(100vh - 17.5rem)); margin: 0; background: var(--lane); border: 1px solid var(--line); border-radius: .8rem }
.lane-name { display: flex; align-items: baseline; justify-content: space-between; gap: .5rem; margin: 0; padding: .7rem .9rem .5rem; font-size: .92rem; letter-spacing: 0 }
.count { color: var(--soft); font-size: .82rem; font-weight: 500; font-variant-numeric: tabular-nums }
.tiles { display: flex; flex-direction: column; gap: .5rem; min-height: 0; margin: 0; padding: .15rem .55rem .6rem; list-style: none; overflow-y: auto; scrollbar-width: thin; scrollbar-color: var(--edge) transparent }
.nothing { margin: 0; padding: .1rem .9rem .9rem; color: var(--soft); font-size: .88rem }
.more { margin: 0; padding: .2rem .9rem .8rem; font-size: .9rem }
.tile { position: relative; display: grid; flex: none; gap: .45rem; padding: .7rem .8rem; overflow: hidden; background: var(--sheet); border: 1px solid var(--line); border-radius: .6rem; box-shadow: var(--shadow); font-size: .92rem; line-height: 1.4 }
.tile:hover { border-color: var(--edge) }
.tile p { margin: 0 }
.tile-title { color: var(--text); text-decoration: none; font-weight: 500; overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 6; overflow: hidden }
.tile-title::after { content: ''; position: absolute; inset: 0; border-radius: .55rem }
.tile-title:focus-visible { outline: none }
.tile-title:focus-visible::after { outline: 3px solid var(--accent); outline-offset: -3px }
.tile.completed .tile-title { color: var(--soft) }
.broken { visibility: hidden }
.cover { display: block; width: calc(100% + 1.6rem); margin: -.7rem -.8rem .1rem; height: 8rem; object-fit: cover; background: var(--lane); border-bottom: 1px solid var(--line) }
.labels { margin: 0; display: flex; flex-wrap: wrap; gap: .3rem }
.label { display: inline-flex; align-items: center; gap: .35rem; max-width: 100%; padding: .05rem .5rem; border: 1px solid var(--line); border-radius: 1rem; font-size: .78rem; line-height: 1.45; overflow-wrap: anywhere }
.facts { display: flex; flex-wrap: wrap; align-items: center; gap: .3rem .75rem; color: var(--soft); font-size: .82rem }
.fact { display: inline-flex; align-items: center; gap: .3rem; font-variant-numeric: tabular-nums }
.fact.done { color: var(--good) }
.fact.overdue, .fact.soon { padding: .05rem .4rem; margin-left: -.1rem; border-radius: .35rem; background: var(--warn-sheet); color: var(--warn) }
.fact.overdue { background: var(--danger-sheet); color: var(--danger) }
.people { display: flex; align-items: center; gap: .25rem }
.people .avatar { width: 1.55rem; height: 1.55rem; font-size: .62rem }
.toast { position: fixed; z-index: 30; right: 1rem; bottom: 1rem; max-width: min(26rem, calc(100vw - 2rem)); margin: 0; padding: .7rem 1rem; background: var(--text); color: var(--sheet); border-radius: .6rem; box-shadow: var(--float); font-size: .92rem; overflow-wrap: anywhere }
.toast:empty { padding: 0 }
.fresh { border-color: var(--accent) }
.tile.fresh { box-shadow: 0 0 0 1px var(--accent), var(--shadow) }
.by { margin: .15rem 0 0; padding: .2rem .5rem; border-radius: .35rem; background: var(--accent-sheet); color: var(--accent); font-size: .8rem; font-weight: 600; overflow-wrap: anywhere }
.lane > .by { margin: 0 .55rem .6rem }
.keys { max-width: min(26rem, calc(100vw - 2rem)); padding: 1.25rem 1.4rem; color: var(--text); background: var(--sheet); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--float) }
.keys h2 { margin-top: 0 }
.keys::backdrop { background: rgb(10 14 22 / .45) }
kbd { display: inline-block; min-width: 1.6rem; padding: .05rem .35rem; border: 1px solid var(--edge); border-radius: .3rem; font: .85em ui-monospace, monospace; text-align: center }
.whole-card .columns { display: grid; grid-template-columns: minmax(0, 1fr) 20rem; gap: 2.25rem; align-items: start }
.whole-card section { margin-top: 1.75rem }
.whole-card section:first-child { margin-top: .25rem }
.whole-card h2 { margin-top: 0 }
.facts-list { position: sticky; top: 1rem; margin: 0; padding: .4rem 1.1rem; font-size: .92rem }
.facts-list code { font-size: .78rem }
.facts-list dl { grid-template-columns: max-content minmax(0, 1fr); gap: .55rem 1rem }
.persons { display: grid; gap: .35rem; margin: 0; padding: 0; list-style: none }
.person { display: inline-flex; align-items: center; gap: .5rem; font-weight: 500 }
.prose { overflow-wrap: anywhere }
.prose p { white-space: pre-line }
.prose > :first-child { margin-top: 0 }
.prose > :last-child { margin-bottom: 0 }
.prose h3, .prose h4 { margin: 1.1rem 0 .3rem; font-size: 1rem }
.prose ul, .prose ol { padding-left: 1.4rem }
.prose .task { list-style: none; margin-left: -1.2rem }
.prose pre { padding: .75rem .9rem; overflow: auto; background: var(--lane); border: 1px solid var(--line); border-radius: .5rem; white-space: pre-wrap }
.prose code { background: var(--lane); padding: .05em .3em; border-radius: .25rem }
.prose pre code { padding: 0; background: none }
.prose blockquote { margin: .75rem 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--soft) }
.prose hr { border: 0; border-top: 1px solid var(--line) }
progress { display: block; width: 100%; height: .4rem; margin-bottom: .6rem; border: 0; border-radius: 1rem; overflow: hidden; background: var(--line); accent-color: var(--good); appearance: none }
progress::-webkit-progress-bar { background: var(--line) }
progress::-webkit-progress-value { background: var(--good) }
progress::-moz-progress-bar { background: var(--good) }
.subtasks { display: grid; gap: .4rem; margin: 0; padding: 0; list-style: none }
.subtasks li { display: flex; align-items: flex-start; gap: .55rem }
.subtasks .icon, .box { width: 1rem; height: 1rem; margin-top: .28rem; flex: none }
.box { border: 1.5px solid var(--edge); border-radius: .25rem }
.subtasks .done { color: var(--soft) }
.subtasks .done .icon { color: var(--good) }
.attachments { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(11rem, 100%), 1fr)); gap: .9rem; margin: 0; padding: 0; list-style: none }
.attachments a { display: block; color: var(--text); font-weight: 500; font-size: .92rem; text-decoration: none }
.attachments a:hover .file-name { text-decoration: underline }
.attachments img, .no-image { display: grid; place-items: center; width: 100%; height: 7.5rem; margin-bottom: .35rem; object-fit: contain; background: var(--lane); border: 1px solid var(--line); border-radius: .5rem; color: var(--soft); font-size: 1.6rem }
.comments { display: grid; gap: 1rem; margin: 0; padding: 0; list-style: none }
.comments > li { padding: .9rem 1.1rem; background: var(--sheet); border: 1px solid var(--line); border-radius: var(--radius) }
.comment-head { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem .75rem; margin: 0 0 .4rem }
.front { padding: 2rem 0 .5rem; max-width: 44rem }
.front h1 { font-size: clamp(1.9rem, 5vw, 2.7rem); letter-spacing: -.025em; line-height: 1.15 }
.lead { font-size: 1.12rem; color: var(--soft) }
.example { margin: .3rem 0 .8rem; padding: .75rem .9rem; overflow: auto; background: var(--lane); border: 1px solid var(--line); border-radius: .5rem; white-space: pre-wrap }
.doors { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(14rem, 100%), 1fr)); gap: 1rem; margin: 1rem 0 0; padding: 0; list-style: none }
.doors .card { display: grid; align-content: start; gap: .2rem; height: 100%; margin: 0; color: var(--text); text-decoration: none }
.doors .card:hover { border-color: var(--edge) }
.doors strong { color: var(--accent) }
@media (prefers-reduced-motion: no-preference) {
  .fresh { animation: fresh 1.2s ease-out }
  @keyframes fresh { from { background: var(--accent-sheet) } }
}
@media (max-width: 60rem) { .whole-card .columns { grid-template-columns: minmax(0, 1fr) } .facts-list { position: static; order: -1; margin-top: .5rem } }
@media (max-width: 40rem) {
  .wide main { padding-top: .9rem }
  .lanes { scroll-snap-type: x proximity }
  .lane { flex-basis: min(19rem, 84vw); max-height: none; scroll-snap-align: start }
  .board-filter.name, .board-filter.name input:not([type=radio], [type=checkbox]) { width: 100%; max-width: none }
  .board-filters { display: grid; grid-template-columns: 1fr 1fr }
  .board-filter.name { grid-column: 1 / -1 }
  .board-filter select { width: 100%; max-width: none }
}
@media print {
  .lanes { display: block; columns: 3 14rem; column-gap: 1rem; overflow: visible; margin: 0; padding: 0 }
  .lane { max-height: none; break-inside: auto; margin-bottom: 1rem; border: 0 }
  .tiles { overflow: visible }
  .tile { break-inside: avoid; box-shadow: none }
  .live, .more, .toast, .board-filters, .about { display: none !important }
  .whole-card .columns { display: block }
}
`
