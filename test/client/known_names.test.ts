// tier: quick
/** The object behind a name: a name that looks the same is the same name. */
import { expect, test } from 'bun:test'
import { createKnownNames, findChangedName, type NameLists } from '../../src/client/known_names.ts'

const list = 'workspaces of ada'

function kept() {
  let lists: NameLists = {}
  return createKnownNames({
    read: () => lists,
    change: (act) => {
      lists = act(lists) ?? lists
    },
  })
}

test.each(['acme\u200b', 'ac\u2060me', '\u00a0acme', 'acme\ufe0f', 'acme ', 'ａcme'])(
  '%j is rejected under another ID if acme is known, until it is accepted',
  (name) => {
    const known = kept()
    known.learn(list, [{ id: 'one', name: 'acme' }])
    known.learn(list, [{ id: 'two', name }])
    expect(findChangedName(known, list, { id: 'two', name }, name)?.before).toEqual(['one'])
    expect(findChangedName(known, list, { id: 'one', name: 'acme' }, 'acme')).toBeNull()
    known.accept(list, name, ['two'])
    expect(findChangedName(known, list, { id: 'two', name }, name)).toBeNull()
    expect(findChangedName(known, list, { id: 'one', name: 'acme' }, 'acme')?.before).toEqual([
      'two',
    ])
  },
)

test('a name in another case is a different name', () => {
  const known = kept()
  known.learn(list, [{ id: 'one', name: 'acme' }])
  known.learn(list, [{ id: 'two', name: 'Acme' }])
  expect(findChangedName(known, list, { id: 'two', name: 'Acme' }, 'Acme')).toBeNull()
})
