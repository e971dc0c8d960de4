/** A workspace's label in a menu, where another workspace may have the same name. */
import type { Returned } from '../keys/messages.ts'
import { texts } from '../texts/index.ts'

type Listed = Pick<Returned<'workspaces.list'>[number], 'id' | 'name' | 'role'>

export function workspaceLabel({ id, name, role }: Listed, all: readonly Listed[]): string {
  const alike = all.filter((other) => other.name === name)
  if (alike.length < 2) return name
  const isOnlyOfRole = alike.filter((other) => other.role === role).length === 1
  return `${name} · ${isOnlyOfRole ? texts.members.roles[role] : id.slice(-6)}`
}
