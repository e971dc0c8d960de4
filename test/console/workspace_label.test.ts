// tier: all
/** Workspaces of one name are told apart in the menu. */
import { expect, test } from 'bun:test'
import { workspaceLabel } from '../../src/console/web/frame/workspace_label.ts'

const own = { id: '01a20602-0000-8000-8000-000000aaaaaa', name: 'Personal', role: 'owner' } as const
const joined = { ...own, id: '01a2060b-0000-8000-8000-000000bbbbbb', role: 'member' } as const
const second = { ...joined, id: '01a2060c-0000-8000-8000-000000cccccc' }

test('a name that is the only one stands alone', () => {
  expect(workspaceLabel(own, [own, { ...joined, name: 'Team' }])).toBe('Personal')
})

test('of two of a name the role is said, and the end of the id where that is the same', () => {
  expect(workspaceLabel(own, [own, joined])).toBe('Personal · owner')
  expect(workspaceLabel(joined, [own, joined])).toBe('Personal · member')
  expect(workspaceLabel(joined, [own, joined, second])).toBe('Personal · bbbbbb')
})
