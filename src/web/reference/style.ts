/** The style of the reference, in addition to the base: a sidebar, the explanation, and beside it the examples. */
export const referenceStyle = `
:root { --violet: #6a2ba1; --violet-sheet: #f2e8fc; --bar: 3.5rem; --side: 16rem }
@media (prefers-color-scheme: dark) { :root { --violet: #d3b1f5; --violet-sheet: #2d1f3f } }
html { scroll-padding-top: calc(var(--bar) + 1rem) }
.reference > header { position: sticky; top: 0; z-index: 10; min-height: var(--bar) }
.reference > header .brand { white-space: nowrap; flex: none }
.reference > header .brand span { font-size: .92rem }
.reference main { width: min(64rem, 100% - 2 * var(--gutter)); margin: 0 auto; padding-block: 1.75rem 4rem }
.lead { font-size: 1.1rem; color: var(--soft) }
.anchor { margin-left: .15rem; color: var(--soft); font-weight: 400; text-decoration: none; opacity: 0 }
:is(h2, h3):hover .anchor, .anchor:focus-visible { opacity: 1 }
@media (hover: none) { .anchor { opacity: 1 } }

.search { position: relative; flex: 1 1 16rem; max-width: 34rem }
.search input:not([type=radio], [type=checkbox]) { max-width: none; margin: 0; min-height: 2.4rem; background: var(--ground); border-color: var(--line) }
.search kbd { position: absolute; right: .6rem; top: .55rem; padding: 0 .45rem; font: .8rem/1.25rem ui-monospace, monospace; color: var(--soft); background: var(--sheet); border: 1px solid var(--line); border-radius: .3rem; pointer-events: none }
.search:focus-within kbd { display: none }
.hits { position: absolute; z-index: 20; inset: calc(100% + .3rem) 0 auto; max-height: min(34rem, 100dvh - 5rem); overflow-y: auto; padding: .35rem; background: var(--sheet); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--float) }
.hits ul { list-style: none; margin: 0; padding: 0 }
.hits a { display: flex; flex-wrap: wrap; align-items: baseline; gap: .1rem .75rem; padding: .45rem .6rem; border-radius: .4rem; color: var(--text); text-decoration: none }
.hits a:hover, .hits a:focus { background: var(--accent-sheet); outline: none }
.hits a:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px }
.hits .hint { flex-basis: 100%; overflow-wrap: anywhere }
.hits p { padding: .45rem .6rem }

.sidebar { padding: .35rem var(--gutter); background: var(--sheet); border-bottom: 1px solid var(--line); font-size: .92rem }
.sidebar ul { list-style: none; margin: 0; padding: 0 }
.sidebar summary { padding: .4rem .5rem; border-radius: .4rem; cursor: pointer; font-weight: 600 }
.sidebar summary:hover, .sidebar a:hover { background: var(--ground) }
.sidebar a { display: flex; align-items: center; justify-content: space-between; gap: .5rem; padding: .3rem .5rem; color: var(--soft); text-decoration: none; border-radius: .4rem; overflow-wrap: anywhere }
.sidebar details details a { padding-left: 1.4rem }
.sidebar a[aria-current] { background: var(--accent-sheet); color: var(--accent); font-weight: 600 }

.method { display: inline-block; min-width: 3.9em; padding: .1em .45em; border-radius: .3rem; font: 700 .76rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; text-align: center; letter-spacing: .01em }
.method.get { color: var(--accent); background: var(--accent-sheet) }
.method.post { color: var(--good); background: var(--good-sheet) }
.method.put { color: var(--warn); background: var(--warn-sheet) }
.method.patch { color: var(--violet); background: var(--violet-sheet) }
.method.delete { color: var(--danger); background: var(--danger-sheet) }
.sidebar .method { min-width: 0; padding: 0; background: none; font-size: .7rem }
.request code { color: var(--soft) }

.operations { list-style: none; margin: .75rem 0; padding: 0; border: 1px solid var(--line); border-radius: var(--radius); background: var(--sheet) }
.operations:empty { display: none }
.operations li { display: grid; grid-template-columns: minmax(12rem, 1fr) 2fr; gap: .1rem 1rem; padding: .6rem .9rem; border-top: 1px solid var(--line) }
.operations li:first-child { border-top: 0 }
.operations a { font-weight: 600 }
.operations .hint { grid-column: 2 }

.operation h1 { margin: .1rem 0 .6rem; font-size: 1.65rem }
.operation .intro > .request { display: flex; gap: .6rem; align-items: baseline; padding: .5rem .7rem; background: var(--sheet); border: 1px solid var(--line); border-radius: .45rem }
.operation .intro > .request code { color: var(--text) }
.operation .intro > .request .method { flex: none }
.operation h2, .reference main > h2 { margin: 0 0 .5rem; padding-top: 1.25rem; border-top: 1px solid var(--line) }
.operation .details section, .reference main > h2 { margin-top: 1.25rem }
.operation h3 { margin: 1rem 0 0; font-weight: 500 }
.access { grid-template-columns: 6rem 1fr; gap: .4rem 1rem; margin: 1rem 0 0; padding: .75rem .9rem; background: var(--sheet); border: 1px solid var(--line); border-radius: .45rem; font-size: .94rem }
.access .hint { display: block }

.members { display: block; margin: .5rem 0 }
.members dt { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .6rem; padding-top: .7rem; color: var(--text); overflow-wrap: anywhere }
.members dd { padding-bottom: .7rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere }
.members dd:last-child { border-bottom: 0 }
.members code span { color: var(--soft) }
.required { color: var(--danger); font-size: .82rem; font-weight: 600 }
.limits { display: block }

.answers { width: 100%; border-collapse: collapse; margin: .75rem 0; font-size: .94rem }
.answers td { padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
.answers .status { width: 3.25rem }
.answers a { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere }
.status { font-variant-numeric: tabular-nums; font-weight: 650 }

.code { margin: 0 0 1rem; background: var(--sheet); border: 1px solid var(--line); border-radius: var(--radius); overflow: hidden }
.code figcaption { display: flex; align-items: center; justify-content: space-between; min-height: 2.4rem; padding: 0 .35rem 0 .9rem; font-size: .85rem; font-weight: 600; color: var(--soft); border-bottom: 1px solid var(--line) }
.code button { min-height: 1.8rem; padding: .1rem .6rem; font-size: .82rem; border-color: transparent }
pre { margin: 0; padding: .8rem .9rem; overflow: auto; max-height: 30rem; font-size: .84rem; line-height: 1.55 }
pre code { overflow-wrap: normal }
pre:focus-visible { outline-offset: -3px }
.comment { color: var(--soft) }
.string { color: var(--good) }
.word { color: var(--accent) }
[data-response] { background: var(--sheet); border: 1px solid var(--line); border-radius: var(--radius); white-space: pre-wrap; overflow-wrap: anywhere }
textarea { max-width: none; font: .9em ui-monospace, monospace }

@media (min-width: 60rem) {
  .reference { display: grid; grid-template-columns: var(--side) minmax(0, 1fr); grid-template-rows: auto 1fr }
  .reference > header, .skip { grid-column: 1 / -1 }
  .sidebar { position: sticky; top: var(--bar); align-self: start; height: calc(100dvh - var(--bar)); overflow-y: auto; padding: 1rem .75rem 2rem calc(var(--gutter) - .5rem); border-right: 1px solid var(--line); border-bottom: 0; scrollbar-width: thin }
  .reference > header .brand { min-width: calc(var(--side) - var(--gutter) - 1.5rem) }
}
@supports selector(::details-content) {
  @media (min-width: 60rem) {
    .sidebar > details > summary { display: none }
    .sidebar > details::details-content { display: block; content-visibility: visible }
  }
}
@media (min-width: 76rem) {
  .reference main:has(.operation) { width: auto; margin: 0; padding-inline: var(--gutter) }
  .operation { display: grid; grid-template: auto 1fr / minmax(0, 1fr) minmax(0, clamp(27rem, 36vw, 36rem)); gap: 0 2.5rem; max-width: 92rem }
  .operation .examples { grid-area: 1 / 2 / 3 / 3; position: sticky; top: calc(var(--bar) + 1.5rem); align-self: start; max-height: calc(100dvh - var(--bar) - 2.5rem); overflow-y: auto; scrollbar-width: thin }
}
@media (max-width: 75.99rem) { .operation .examples { margin-top: 1.5rem } }
@media (max-width: 40rem) {
  :root { --bar: 0rem }
  .reference > header { position: relative; align-content: center; row-gap: .35rem; padding-block: .5rem }
  .search { order: 3; flex-basis: 100% }
  .search kbd { display: none }
  .operations li { display: block }
  .operations li > * { display: block }
  .access { display: block }
  .access dd + dt { margin-top: .5rem }
}
`
