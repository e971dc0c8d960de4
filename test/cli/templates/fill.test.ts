// tier: quick
/** A template is filled from values that were fetched once for each environment, or not at all. */
import { expect, test } from 'bun:test'
import { type FindPlace, fillTemplate, type Place } from '../../../src/cli/templates/fill.ts'

/** Two environments, one of them under two names, and how often each was read. */
function openPlaces() {
  const asked: string[] = []
  const place = (title: string, values: Record<string, string>, isMeant = true): Place => ({
    title,
    fault: null,
    isMeant,
    open: async () => {
      asked.push(title)
      const entries = Object.entries(values).map(([name, value]) => {
        const policy = name.startsWith('REFERS') ? { references: true } : null
        return [name, { value, policy }] as const
      })
      return { entries: new Map(entries), own: new Set() }
    },
  })
  const own = place('pay/dev', {
    A: '1',
    B: '{{ A }} svc://pay/dev/A $& $1',
    REFERS: '${A}2',
    REFERS_TO_NOTHING: '${GONE}',
  })
  const other = place('shared/prod', { A: 'other' })
  const foreign = place('bank/prod', { A: 'foreign' }, false)
  const find: FindPlace = (named) => {
    if (named === null || named.project === 'pay') return own
    return named.project === 'bank' ? foreign : other
  }
  return { asked, open: async () => find }
}

const fill = async (template: string) => {
  const { asked, open } = openPlaces()
  return { ...(await fillTemplate(template, open)), asked }
}

test('each environment is fetched once, whatever its name and however often it is named', async () => {
  const template =
    '{{ A }}{{A}} svc://pay/dev/A svc://shared/prod/A {{ svc://id-of-shared/prod/A }}'
  expect(await fill(template)).toEqual({
    text: '11 1 other other',
    used: [
      { environment: 'pay/dev', names: ['A'] },
      { environment: 'shared/prod', names: ['A'] },
    ],
    asked: ['pay/dev', 'shared/prod'],
  })
})

test('a value is text, whatever it looks like', async () => {
  expect((await fill('[{{ B }}]')).text).toBe('[{{ A }} svc://pay/dev/A $& $1]')
})

test('only references that the template names are resolved, so others may be broken', async () => {
  expect((await fill('{{ REFERS }} {{ A }}')).text).toBe('12 1')
  expect(fill('{{ A }} {{ REFERS_TO_NOTHING }}')).rejects.toThrow(
    'REFERS_TO_NOTHING refers to GONE, which does not exist',
  )
})

test('nothing is fetched for a template that cannot be filled, or that has no references', async () => {
  const { asked, open } = openPlaces()
  for (const template of ['{{ A B }}{{ A }}', '{{ A }} svc://bank/prod/A'])
    await expect(fillTemplate(template, open)).rejects.toThrow('nothing was written')
  expect((await fillTemplate('{{ "{{" }}', open)).text).toBe('{{')
  expect(asked).toEqual([])
})

test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
  "an object property's name is no secret: %s",
  async (name) => {
    const { open } = openPlaces()
    await expect(fillTemplate(`{{ ${name} }}`, open)).rejects.toThrow(
      'is not available to programs',
    )
  },
)
