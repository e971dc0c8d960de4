// tier: all
/**
 * The chart's values: those that it rejects, and a check that none of them opens, reveals or breaks anything
 * unnoticed.
 */
import { expect } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { describeConfig, readConfig } from '../../src/core/config/config.ts'
import { requires } from '../support/requires.ts'
import { type Chart, mounted, objectsOf, openChart } from './chart.ts'
import { BUILD_MS } from './go_programs.ts'

const { afterAll, beforeAll, test } = requires('go')

let chart: Chart
beforeAll(async () => {
  chart = await openChart()
}, BUILD_MS)
afterAll(() => chart.remove())

const ROLES = ['control-plane', 'resolver'] as const
const EVERYTHING =
  'metrics: {enabled: true, podMonitor: true}, backup: {enabled: true}, resolver: {allowNetworks: [10.1.0.0/16], ingress: {enabled: true}}, controlPlane: {ingress: {enabled: true}}'

async function rendered(values: string) {
  const { out, error } = await chart.render(values)
  expect(error).toBe('')
  expect(await chart.check(out)).toEqual({ out: '', error: '', code: 0 })
  return objectsOf(out)
}

test.each([
  ['an invalid network', '{trustedProxies: [proxy.internal]}', 'trustedProxies'],
  ['a value that nothing reads', '{replicas: 3}', 'replicas'],
  // For Kubernetes, an empty list of peers, or an empty peer, means everyone.
  ...['networkPolicy.ingressFrom', 'networkPolicy.dns', 'networkPolicy.database', 'metrics.from']
    .map((path) => path.split('.'))
    .flatMap(([group = '', name = '']): [string, string, string][] => [
      [`nobody in ${group}.${name}`, `{${group}: {${name}: []}}`, name],
      [`an empty peer in ${group}.${name}`, `{${group}: {${name}: [{}]}}`, name],
    ]),
  ['a way out to nobody', '{networkPolicy: {egress: [{to: []}]}}', 'egress'],
  ['a way out without peers', '{networkPolicy: {egress: [{ports: [{port: 1}]}]}}', 'egress'],
  ['a setting that is no name of one', '{settings: {"A, value: b": c}}', 'A, value: b'],
])('the chart rejects %s', async (_, values, name) => {
  const { error, code } = await chart.render(values)
  expect([code, error.includes(name)]).toEqual([1, true])
})

const container = z.object({
  image: z.string(),
  env: z.array(z.object({ name: z.string(), value: z.string().optional() }).loose()),
  volumeMounts: z.array(z.unknown()),
})
const spec = z.object({
  terminationGracePeriodSeconds: z.number().optional(),
  containers: z.tuple([container]),
  volumes: z.array(
    z.object({
      name: z.string(),
      secret: z.object({ secretName: z.string(), defaultMode: z.number() }).optional(),
    }),
  ),
})
const workload = z.object({ spec: z.object({ template: z.object({ spec }) }) })
const cronJob = z.object({ spec: z.object({ jobTemplate: workload }) })

type Objects = Awaited<ReturnType<typeof rendered>>
const podOf = (objects: Objects, role: string) =>
  workload.parse(objects[`Deployment cloakroom-${role}`]).spec.template.spec
const podsOf = (objects: Objects) => [
  ...ROLES.map((role) => podOf(objects, role)),
  cronJob.parse(objects['CronJob cloakroom-backup']).spec.jobTemplate.spec.template.spec,
]

const namesOf = (objects: Objects) =>
  podsOf(objects).flatMap(({ containers: [{ env }] }) => env.map(({ name }) => name))
// Services and probes rely on those of the image.
const OF_THE_IMAGE = ['HOST', 'PORT', 'RESOLVER_PORT']

test('settings accepts no secret, and no value that the chart sets itself', async () => {
  const own = namesOf(await rendered(`{${EVERYTHING}}`))
  const secrets = describeConfig().flatMap(({ name, file }) => (file ? [name] : []))
  expect(own).toContain('DB_SSLMODE')
  expect(secrets).toContain('OTEL_EXPORTER_OTLP_HEADERS')
  for (const name of new Set([...own, ...secrets, ...OF_THE_IMAGE])) {
    const { error, code } = await chart.render(`{settings: {${name}: "1"}}`)
    expect([name, code, error.includes(`'${name}'`)]).toEqual([name, 1, true])
  }
})

test('settings accepts every other variable, and renders each one once', async () => {
  const own = [...namesOf(await rendered(`{${EVERYTHING}}`)), ...OF_THE_IMAGE]
  const others = describeConfig()
    .map(({ name, file }) => file ?? name)
    .filter((name) => !own.includes(name))
  expect(others).toContain('OTEL_EXPORTER_OTLP_HEADERS_FILE')
  const settings = Object.fromEntries(others.map((name) => [name, '1']))
  const objects = await rendered(`{settings: ${JSON.stringify(settings)}, ${EVERYTHING}}`)
  for (const { containers } of podsOf(objects)) {
    const names = containers[0].env.map(({ name }) => name)
    expect(names).toEqual([...new Set(names)])
    expect(names).toEqual(expect.arrayContaining(others))
  }
})

test('files of one more Secret are mounted for settings that name them', async () => {
  const folder = '/run/secrets/files'
  const settings = {
    DB_CA_FILE: `${folder}/ca.pem`,
    RESOLVER_CA_FILE: `${folder}/ca.pem`,
    OTEL_EXPORTER_OTLP_HEADERS_FILE: `${folder}/headers`,
  }
  const objects = await rendered(
    `{filesSecret: own-files, settings: ${JSON.stringify(settings)}, ${EVERYTHING}}`,
  )
  for (const [index, { containers, volumes }] of podsOf(objects).entries()) {
    const [{ env: given, volumeMounts }] = containers
    const secret = { secretName: 'own-files', defaultMode: 0o440 }
    expect(volumes).toContainEqual({ name: 'files', secret })
    expect(volumeMounts).toContainEqual({ name: 'files', mountPath: folder, readOnly: true })
    const env = Object.fromEntries(given.map(({ name, value }) => [name, value ?? '']))
    const files = mounted(env, join(chart.place, `files-${index}`), {
      headers: 'authorization=Bearer%20one',
    })
    const config = readConfig({ ...env, ...files, ALLOWED_HOSTS: 'a.internal' }, () => {
      throw new Error('production makes no keys for itself')
    })
    expect(JSON.stringify(config.OTEL_EXPORTER_OTLP_HEADERS)).toContain('Bearer one')
  }
})

test('a stop has enough time for DRAIN_SECONDS and the work that runs then', async () => {
  for (const [values, seconds] of [
    ['{}', 40],
    ['{settings: {DRAIN_SECONDS: 20}}', 60],
    ['{settings: {DRAIN_SECONDS: "300"}}', 340],
  ] as const) {
    const objects = await rendered(values)
    for (const role of ROLES)
      expect(podOf(objects, role).terminationGracePeriodSeconds).toBe(seconds)
  }
})

test('texts stay texts, whatever type YAML would give them', async () => {
  const role = 'databaseUser: "1", passwordSecret: "true"'
  const objects = await rendered(
    `{image: {repository: "a #b", tag: "1"}, keysSecret: "0x1", filesSecret: "null", controlPlane: {${role}}, resolver: {${role}}, backup: {enabled: true, volumeClaim: "2"}, settings: {"ON": "off"}}`,
  )
  for (const { containers, volumes } of podsOf(objects)) {
    expect(containers[0].image).toBe('a #b:1')
    expect(containers[0].env).toContainEqual({ name: 'ON', value: 'off' })
    expect(volumes.flatMap(({ secret }) => secret?.secretName ?? [])).toEqual([
      '0x1',
      'true',
      'null',
    ])
  }
  expect(JSON.stringify(objects['CronJob cloakroom-backup'])).toContain('{"claimName":"2"}')
})

test('a further egress rule is in the policy of both roles and of no backup', async () => {
  const rule = {
    to: [{ ipBlock: { cidr: '192.0.2.1/32' } }],
    ports: [{ protocol: 'TCP', port: 4318 }],
  }
  const objects = await rendered(
    `{networkPolicy: {egress: [${JSON.stringify(rule)}]}, backup: {enabled: true}}`,
  )
  const isThere = (role: string) =>
    JSON.stringify(objects[`NetworkPolicy cloakroom-${role}`]).includes('192.0.2.1/32')
  expect([...ROLES, 'backup'].map(isThere)).toEqual([true, true, false])
})
