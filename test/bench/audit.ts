import { addedTable } from './added.ts'

export const audit = addedTable({
  name: 'audit',
  summary: 'CPU time of a request with the audit trail, and without it',
  title:
    'CPU time of the server for one request, in µs, with the audit trail and the counts of tokens, and without both. It includes the writing of ' +
    'the entries.',
  goal: 0.03,
})
