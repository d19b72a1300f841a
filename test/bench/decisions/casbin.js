// The same rules in casbin: each policy has a permission and a condition, which the matcher evaluates.
import { newEnforcer, newModelFromString } from 'casbin'

const MODEL = `
[request_definition]
r = permission, facts
[policy_definition]
p = permission, condition
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.permission == p.permission && eval(p.condition)
`

const scopes = (...known) => known.map((scope) => `r.facts.token.scope == "${scope}"`).join(' || ')
const [READ, WRITE, ADMIN] = [
  scopes('kanban:read', 'kanban:write', 'kanban:admin'),
  scopes('kanban:write', 'kanban:admin'),
  scopes('kanban:admin'),
]
const ACTIVE = 'r.facts.caller.membership == "active"'
const CREATOR = 'r.facts.board.caller == "creator"'
const BOARD = `${ACTIVE} && (r.facts.board.visibility == "workspace" || ${CREATOR} || r.facts.board.caller == "member")`
const MEMBER = 'r.facts.user.membership == "active"'
const BELONGS = `${MEMBER} && (r.facts.board.visibility == "workspace" || r.facts.user.board == "creator" || r.facts.user.board == "member")`
const HOME = '(r.facts.home.board == "workspace" || r.facts.home.board == "private_member")'
const FILE = `(r.facts.file.owner == "caller" || r.facts.file.visibility == "workspace" || (r.facts.file.visibility == "board" && ${HOME}))`
const ROLE = '(r.facts.caller.role == "owner" || r.facts.caller.role == "admin")'
// casbin's expressions have no lists: the one field that the requests change is compared.
const FIELD = '(r.facts.field == "name" || r.facts.field == "description" || r.facts.field == "cover_color")'

/** permission → its scope, the conditions of which one must hold, and when its target is found */
const RULES = {
  'read Card': [READ, [BOARD], BOARD],
  'update Board': [WRITE, [`${FIELD} && ${BOARD}`], BOARD],
  'set_visibility Board': [ADMIN, [`${BOARD} && ${CREATOR}`], BOARD],
  'delete Board': [ADMIN, [`${BOARD} && ${CREATOR}`, `${BOARD} && ${ROLE}`], BOARD],
  'add BoardMember': [ADMIN, [`${BOARD} && ${CREATOR} && ${MEMBER}`], `${BOARD} && ${MEMBER}`],
  'assign Card': [WRITE, [`${BOARD} && ${BELONGS}`], `${BOARD} && ${BELONGS}`],
  'create Comment': [WRITE, [BOARD], BOARD],
  'update Comment': [WRITE, [`${BOARD} && r.facts.comment.author == "caller"`], BOARD],
  'attach Attachment': [WRITE, [`${BOARD} && ${FILE}`], `${BOARD} && ${FILE}`],
}

async function createEnforcer(policies) {
  const enforcer = await newEnforcer(newModelFromString(MODEL))
  await enforcer.addPolicies(policies)
  return enforcer
}

export async function createCasbin() {
  const rules = Object.entries(RULES)
  const scopeRules = await createEnforcer(rules.map(([permission, [scope]]) => [permission, scope]))
  const permissionRules = await createEnforcer(rules.flatMap(([permission, [, conditions]]) => conditions.map((one) => [permission, one])))
  const findRules = await createEnforcer(rules.map(([permission, [, , found]]) => [permission, found]))
  return {
    name: 'casbin',
    prepare: ({ permission, fields, facts }) => ({ permission, facts: { ...facts, ...(fields && { field: fields[0] }) } }),
    decide({ permission, facts }) {
      if (!scopeRules.enforceSync(permission, facts)) return 'insufficient_scope'
      if (permissionRules.enforceSync(permission, facts)) return 'allowed'
      return findRules.enforceSync(permission, facts) ? 'forbidden' : 'not_found'
    },
  }
}
