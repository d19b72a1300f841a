// The same decisions, written by hand. It names no rule and no reason.
const SCOPES = ['none', 'kanban:read', 'kanban:write', 'kanban:admin']
const REQUIRED = {
  'read Card': 'kanban:read',
  'update Board': 'kanban:write',
  'set_visibility Board': 'kanban:admin',
  'delete Board': 'kanban:admin',
  'add BoardMember': 'kanban:admin',
  'assign Card': 'kanban:write',
  'create Comment': 'kanban:write',
  'update Comment': 'kanban:write',
  'attach Attachment': 'kanban:write',
}

const hasBoard = ({ caller, board }) =>
  caller.membership === 'active' && (board.visibility === 'workspace' || board.caller === 'creator' || board.caller === 'member')
const hasHome = ({ home }) => home.board === 'workspace' || home.board === 'private_member'
const hasFile = ({ caller, file, home }) =>
  caller.membership === 'active' &&
  (file.owner === 'caller' || file.visibility === 'workspace' || (file.visibility === 'board' && hasHome({ home })))
const isMember = ({ user }) => user.membership === 'active'
const belongs = ({ board, user }) =>
  user.membership === 'active' && (board.visibility === 'workspace' || user.board === 'creator' || user.board === 'member')

function isFound(permission, facts) {
  if (!hasBoard(facts)) return false
  if (permission === 'add BoardMember') return isMember(facts)
  if (permission === 'assign Card') return belongs(facts)
  if (permission === 'attach Attachment') return hasFile(facts)
  return true
}

function isAllowed(permission, { caller, board, comment }, fields) {
  if (permission === 'update Board') return fields.every((field) => field === 'name' || field === 'description' || field === 'cover_color')
  if (permission === 'set_visibility Board' || permission === 'add BoardMember') return board.caller === 'creator'
  if (permission === 'delete Board') return board.caller === 'creator' || caller.role === 'owner' || caller.role === 'admin'
  if (permission === 'update Comment') return comment.author === 'caller'
  return true
}

export async function createIfChain() {
  return {
    name: 'if-chain',
    prepare: ({ permission, fields, facts }) => ({ permission, fields, facts }),
    decide({ permission, fields, facts }) {
      if (SCOPES.indexOf(facts.token.scope) < SCOPES.indexOf(REQUIRED[permission])) return 'insufficient_scope'
      if (!isFound(permission, facts)) return 'not_found'
      return isAllowed(permission, facts, fields) ? 'allowed' : 'forbidden'
    },
  }
}
