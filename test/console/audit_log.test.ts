// tier: quick
/** The words, periods and suggestions of the audit log. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import {
  actionGroups,
  actionText,
  knownActions,
} from '../../src/console/web/screens/audit/actions.ts'
import { chartDays, periodText, rangeOf } from '../../src/console/web/screens/audit/period.ts'
import { auditSearch } from '../../src/console/web/screens/audit/search.ts'
import { chosenOf, suggestionsFor } from '../../src/console/web/screens/audit/suggestions.ts'
import { actions } from '../../src/http/recorder.ts'

const SRC = join(import.meta.dir, '..', '..', 'src')

/** Actions of changes, and every other action that the source records. */
async function recordedActions(): Promise<Set<string>> {
  const found = new Set<string>(actions)
  for await (const file of new Bun.Glob('**/*.ts').scan(SRC)) {
    if (file.startsWith('console/')) continue
    const text = await Bun.file(join(SRC, file)).text()
    for (const [, action = ''] of text.matchAll(/\baction: '([a-z_]+\.[a-z_]+)'/g))
      found.add(action)
  }
  return found
}

test('every action that the server records has words, and no other action has', async () => {
  expect<string[]>([...knownActions].sort()).toEqual([...(await recordedActions())].sort())
})

test('no action is shown as its code', () => {
  for (const action of [...knownActions, 'secret.invented']) {
    expect(actionText(action)).toMatch(/^[A-Z][a-z’ ]+$/)
    expect(actionText(action, 59)).toMatch(/^[A-Z][a-z’ ]+$/)
  }
  expect(actionText('secret.updated', 59)).toBe('Imported secrets')
})

test('changes and reads together are all actions, and fit in one filter', () => {
  const grouped = [...actionGroups.changes, ...actionGroups.reads]
  expect(grouped.sort()).toEqual([...knownActions].sort())
  expect(actionGroups.changes.length).toBeLessThanOrEqual(64)
})

const DAY_MS = 86_400_000
const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10)

describe('period', () => {
  test('the last 14 days are the usual period, and have 14 bars even without a call', () => {
    expect(periodText({})).toBe('Last 14 days')
    expect(rangeOf({})).toEqual({ since: day(13) })
    expect(chartDays({}, [])).toEqual(Array.from({ length: 14 }, (_, at) => day(13 - at)))
  })

  test('today begins at midnight of the person’s time zone', () => {
    const { since = '' } = rangeOf({ period: 'today' })
    expect(new Date(since).getTime()).toBe(new Date().setHours(0, 0, 0, 0))
  })

  test('the last day of a chosen period belongs to it', () => {
    const chosen = { since: '2026-11-12', until: '2026-11-19' }
    expect(rangeOf(chosen)).toEqual({ since: '2026-11-12', until: '2026-11-20' })
    expect(chartDays(chosen, [])).toHaveLength(8)
    expect(periodText(chosen)).toBe('Nov 12 – Nov 19')
  })

  test('one day is one bar, and a long period has the newest 90 days', () => {
    expect(chartDays({ since: '2026-11-12', until: '2026-11-12' }, [])).toEqual(['2026-11-12'])
    expect(chartDays({ since: day(400) }, []).at(-1)).toBe(day(0))
    expect(chartDays({ since: day(400) }, [])).toHaveLength(90)
    expect(chartDays({ until: '2026-11-12' }, ['2026-11-10'])).toHaveLength(3)
  })
})

test('an unknown parameter of the address is dropped, and a number is a name', () => {
  expect(auditSearch({ credential: 42, nonsense: 'x', actor: '', since: '2026-11-12' })).toEqual({
    credential: '42',
    since: '2026-11-12',
  })
})

describe('suggestions', () => {
  const names = {
    actor: ['deploy-bot', 'claude-code'],
    domain: ['api.stripe.com'],
    credential: ['SLACK_BOT_TOKEN', 'STRIPE_KEY'],
  }
  const ids = (text: string) => suggestionsFor(text, names).map(({ id }) => id)

  test('a part of a name finds agents, hosts and secrets, with known names first', () => {
    expect(ids('bot')).toEqual([
      'actor:deploy-bot',
      'credential:SLACK_BOT_TOKEN',
      'credential:bot',
      'actor:bot',
    ])
    expect(ids('stripe').slice(0, 2)).toEqual(['domain:api.stripe.com', 'credential:STRIPE_KEY'])
  })

  test('an action is found by its words', () => {
    expect(ids('allowed a')).toContain('action:allowlist.added')
  })

  test('a host can be searched for before any call to it', () => {
    expect(ids('hooks.slack.com')[0]).toBe('domain:hooks.slack.com')
    expect(chosenOf('domain:localhost:8443')).toEqual({ name: 'domain', value: 'localhost:8443' })
  })

  test('an empty search has no suggestions', () => {
    expect(suggestionsFor('  ', names)).toEqual([])
    expect(suggestionsFor('x', undefined).map(({ id }) => id)).toEqual(['credential:x', 'actor:x'])
  })
})
