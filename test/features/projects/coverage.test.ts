// tier: quick
import { beforeAll, describe, expect, test } from 'bun:test'
import { secrets } from '../../../src/database/schema/index.ts'
import { createProject } from '../../../src/features/projects/contract.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'
import { expectRefusal } from '../../support/failure.ts'
import type { Person } from '../../support/people.ts'
import { openTeam, type Team } from '../../support/teams.ts'

let app: TestApp
let team: Team
let reader: Person
let projectId: string
let emptyId: string

beforeAll(async () => {
  app = await sharedApp()
  team = await openTeam(app)
  reader = await team.join('read_only')
  const { workspaceId: workspace_id, owner } = team
  const make = (name: string) => owner.api.call(createProject, { body: { name, workspace_id } })
  projectId = (await make('covered')).id
  emptyId = (await make('empty')).id
  const other = (await make('other')).id
  const rows = [
    [projectId, 'development', 'API_KEY'],
    [projectId, 'development', 'DB_URL'],
    [projectId, 'production', 'API_KEY'],
    [projectId, 'constructor', 'API_KEY'],
    [projectId, 'alpha', 'ZED'],
    [other, 'development', 'NOT_MINE'],
  ] as const
  await app.connection.db.insert(secrets).values(
    rows.map(([project, environment, key]) => ({
      workspaceId: team.workspaceId,
      projectId: project,
      environment,
      key,
      sealed: new Uint8Array(64),
    })),
  )
})

const get = (path: string, person: Person = reader) =>
  app.call('GET', `/api/projects/${path}`, { token: person.token })

type Data = Record<string, unknown>

/** The parts of all pages with one name each. */
async function pagesOf<Part>(path: string, partsOf: (data: Data) => Part[]): Promise<Part[]> {
  const parts: Part[] = []
  const joint = path.includes('?') ? '&' : '?'
  let cursor = ''
  do {
    const { body } = await get(`${projectId}/${path}${joint}limit=1${cursor}`)
    const { data, pagination } = body as { data: Data; pagination: { next_cursor: string | null } }
    parts.push(...partsOf(data))
    cursor = pagination.next_cursor === null ? '' : `&cursor=${pagination.next_cursor}`
  } while (cursor !== '')
  return parts
}

describe('environments', () => {
  test('coverage counts secrets, and lists the three default environments', async () => {
    const { status, body } = await get(`${projectId}/environments/`)
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        status: 'success',
        data: {
          project_id: projectId,
          environments: {
            development: { secret_count: 2 },
            staging: { secret_count: 0 },
            production: { secret_count: 1 },
            alpha: { secret_count: 1 },
            constructor: { secret_count: 1 },
          },
        },
      },
    })
    const empty = await get(`${emptyId}/environments/`)
    expect(empty.body).toMatchObject({
      data: {
        environments: {
          development: { secret_count: 0 },
          staging: { secret_count: 0 },
          production: { secret_count: 0 },
        },
      },
    })
  })
})

test('environments count up to 1,000 secrets each, and mark those with more', async () => {
  const { id } = await team.owner.api.call(createProject, {
    body: { name: 'counted', workspace_id: team.workspaceId },
  })
  await app.connection.sql`
    insert into secrets (id, workspace_id, project_id, environment, key, value)
    select gen_random_uuid(), ${team.workspaceId}, ${id}, place.environment, 'KEY_' || k, ${Buffer.alloc(64)}
    from (values ('development', 1000), ('staging', 1001)) as place(environment, secrets),
      generate_series(1, place.secrets) as k`
  const { body } = await get(`${id}/environments/`)
  expect(body).toMatchObject({
    data: {
      environments: {
        development: { secret_count: 1000 },
        staging: { secret_count: 1000, has_more: true },
        production: { secret_count: 0 },
      },
    },
  })
  expect(JSON.stringify(body).split('has_more')).toHaveLength(2)
})

describe('coverage', () => {
  test('coverage lists by name the environments that have and lack each secret', async () => {
    const { status, body } = await get(`${projectId}/secrets/coverage/`)
    const nowhere = {
      development: false,
      staging: false,
      production: false,
      alpha: false,
      constructor: false,
    }
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        status: 'success',
        data: {
          project_id: projectId,
          environments: ['development', 'staging', 'production', 'alpha', 'constructor'],
          keys: [
            {
              key: 'API_KEY',
              environments: { ...nowhere, development: true, production: true, constructor: true },
              missing: ['staging', 'alpha'],
            },
            {
              key: 'DB_URL',
              environments: { ...nowhere, development: true },
              missing: ['staging', 'production', 'alpha', 'constructor'],
            },
            {
              key: 'ZED',
              environments: { ...nowhere, alpha: true },
              missing: ['development', 'staging', 'production', 'constructor'],
            },
          ],
        },
        pagination: { next_cursor: null },
      },
    })
  })

  test('coverage arrives in pages that together are complete and in order', async () => {
    const whole = await pagesOf('secrets/coverage/', (data) => data.keys as { key: string }[])
    expect(whole.map(({ key }) => key)).toEqual(['API_KEY', 'DB_URL', 'ZED'])
  })
})

describe('diff', () => {
  test('a comparison lists the names that two environments share', async () => {
    const { status, body } = await get(`${projectId}/secrets/diff/?from=development&to=production`)
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        status: 'success',
        data: {
          from: 'development',
          to: 'production',
          in_from_only: ['DB_URL'],
          in_to_only: [],
          in_both: ['API_KEY'],
        },
        pagination: { next_cursor: null },
      },
    })
  })

  test('a comparison in the other direction is the mirror image, also in pages', async () => {
    const path = (from: string, to: string) => `secrets/diff/?from=${from}&to=${to}`
    const there = (data: Data) => [data.in_from_only, data.in_both, data.in_to_only]
    const back = (data: Data) => [data.in_to_only, data.in_both, data.in_from_only]
    for (const [from, to] of [
      ['development', 'production'],
      ['alpha', 'development'],
    ] as const) {
      const forth = await pagesOf(path(from, to), there)
      expect(forth.flat()).not.toEqual([])
      expect(await pagesOf(path(to, from), back)).toEqual(forth)
    }
  })

  const pattern = 'must be at most 32 lower-case letters, digits, _ and -, and begin with a letter'
  test.each([
    [
      '',
      [
        { path: 'from', message: 'is required' },
        { path: 'to', message: 'is required' },
      ],
    ],
    ['?from=development', [{ path: 'to', message: 'is required' }]],
    ['?from=Dev&to=production', [{ path: 'from', message: pattern }]],
    ['?from=development&to=%00', [{ path: 'to', message: pattern }]],
    [`?from=development&to=${'a'.repeat(33)}`, [{ path: 'to', message: pattern }]],
    [
      '?from=development&to=production&include=value',
      [{ path: 'include', message: 'is not a field of this request' }],
    ],
  ])('coverage rejects the query %j', async (query, fields) => {
    await expectRefusal(
      app,
      ['GET', `/api/projects/${projectId}/secrets/diff/${query}`, { token: reader.token }],
      'validation_error',
      { fields },
    )
  })
})

describe('all three endpoints', () => {
  const paths = [
    'environments/',
    'secrets/coverage/',
    'secrets/diff/?from=development&to=production',
  ]

  test.each(paths)('%s answers 404 to a name in place of an ID', async (path) => {
    await expectRefusal(
      app,
      ['GET', `/api/projects/covered/${path}`, { token: reader.token }],
      'not_found',
    )
  })
})
