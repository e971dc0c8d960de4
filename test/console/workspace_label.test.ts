// tier: quick
/** Labels of workspaces that have the same name in the menu. */
import { expect, test } from 'bun:test'
import { workspaceLabel } from '../../src/console/web/frame/workspace_label.ts'

const own = { id: '01a20602-0000-8000-8000-000000aaaaaa', name: 'Personal', role: 'owner' } as const
const joined = { ...own, id: '01a2060b-0000-8000-8000-000000bbbbbb', role: 'member' } as const
const second = { ...joined, id: '01a2060c-0000-8000-8000-000000cccccc' }

test('a unique workspace name is its own label', () => {
  expect(workspaceLabel(own, [own, { ...joined, name: 'Team' }])).toBe('Personal')
})

test('workspaces of the same name show the role, and the end of the ID if the role is the same, too', () => {
  expect(workspaceLabel(own, [own, joined])).toBe('Personal · Owner')
  expect(workspaceLabel(joined, [own, joined])).toBe('Personal · Member')
  expect(workspaceLabel(joined, [own, joined, second])).toBe('Personal · bbbbbb')
})
