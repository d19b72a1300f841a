/** The style of the pages of a person's account. */
export const accountStyle = `
.entries { list-style: none; padding: 0; margin: .75rem 0 1rem }
.entries li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1rem; padding: .75rem 0; border-top: 1px solid var(--line) }
.entries li:last-child { border-bottom: 1px solid var(--line) }
.entries li > div { flex: 1 1 14rem; min-width: 0 }
main p, main strong { overflow-wrap: anywhere }
.notices { border-left: 4px solid var(--warn) }
.notices ul { margin: 0 0 .75rem; padding-left: 1.2rem }
.notices form { margin-top: .75rem }
.qr { display: block; width: min(15rem, 100%); height: auto; border: 1px solid var(--line); border-radius: .4rem }
.spaced { white-space: normal; overflow-wrap: break-word }
.passkey { margin: 1rem 0 }
.hint + .proof { margin-top: 1.25rem }
[data-passkey] { margin: 0 0 1.25rem }
[data-passkey] .error:empty { display: none }
`
