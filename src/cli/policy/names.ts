/** How an optional policy is named. It is part of the help of commands, which must not load the policy engine. */
export const NAMES = 'a policy is a folder, a revision of git as REVISION or REVISION:PATH, or "shipped" (default)'
