// tier: quick
import { beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createProject } from '../../../src/features/projects/contract.ts'
import { coverageOf, diffOf } from '../../../src/features/projects/coverage.ts'
import { secrets } from '../../../src/platform/db/schema/index.ts'
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

describe('environments', () => {
  test('counts secrets, and lists the three that are always there', async () => {
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

describe('coverage', () => {
  test('tells by name what is where and what is missing', async () => {
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
      },
    })
  })

  test('every environment either has a key or misses it', () => {
    const name = fc.record({
      environment: fc.constantFrom('development', 'production', 'alpha', 'beta'),
      key: fc.constantFrom('A', 'B', 'C'),
    })
    fc.assert(
      fc.property(fc.array(name), (names) => {
        const { environments, keys } = coverageOf(names, [])
        for (const { key, environments: has, missing } of keys) {
          for (const environment of environments) {
            const present = names.some(
              (each) => each.key === key && each.environment === environment,
            )
            expect(has[environment]).toBe(present)
            expect(missing.includes(environment)).toBe(!present)
          }
        }
      }),
    )
  })
})

describe('diff', () => {
  test('tells which names two environments share', async () => {
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
      },
    })
  })

  test('the other way round is the mirror image', () => {
    const name = fc.record({
      environment: fc.constantFrom('a', 'b', 'c'),
      key: fc.constantFrom('A', 'B', 'C', 'D'),
    })
    fc.assert(
      fc.property(fc.array(name), (names) => {
        const there = diffOf(names, 'a', 'b')
        const back = diffOf(names, 'b', 'a')
        expect(back).toEqual({
          from: 'b',
          to: 'a',
          in_from_only: there.in_to_only,
          in_to_only: there.in_from_only,
          in_both: there.in_both,
        })
      }),
    )
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
  ])('refuses the query %j', async (query, fields) => {
    await expectRefusal(
      app,
      ['GET', `/api/projects/${projectId}/secrets/diff/${query}`, { token: reader.token }],
      'validation_error',
      { fields },
    )
  })
})

describe('all three', () => {
  const paths = [
    'environments/',
    'secrets/coverage/',
    'secrets/diff/?from=development&to=production',
  ]

  test.each(paths)('%s answers 404 to a name in the place of an ID', async (path) => {
    await expectRefusal(
      app,
      ['GET', `/api/projects/covered/${path}`, { token: reader.token }],
      'not_found',
    )
  })
})
