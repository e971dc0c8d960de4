// tier: all
/**
 * The manifests and the chart, checked with the code of Kubernetes, Helm and External Secrets (kubernetes/main.go),
 * and their pods' settings, files and probes with real processes. No cluster is involved.
 */
import { expect } from 'bun:test'
import { join } from 'node:path'
import { z } from 'zod'
import { describeConfig, readConfig } from '../../src/core/config/config.ts'
import { parseCidrs } from '../../src/core/net/cidr.ts'
import {
  GLOBAL_V6,
  NOT_PUBLIC_V4,
  NOT_PUBLIC_V6,
} from '../../src/outbound/connection/address_lookup.ts'
import { createAgentWithToken, openStage } from '../support/agent.ts'
import { sharedCluster } from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { startServer } from '../support/server_process.ts'
import { type Chart, mounted, objectsOf, openChart, read } from './chart.ts'
import { BUILD_MS } from './go_programs.ts'

const { afterAll, beforeAll, describe, test } = requires('go')

const manifests = read('kubernetes/cloakroom.yaml')
const external = read('kubernetes/external-secrets.yaml')
let chart: Chart
beforeAll(async () => {
  chart = await openChart()
}, BUILD_MS)
afterAll(() => chart.remove())

const httpGet = z.object({
  path: z.string(),
  port: z.literal('http'),
  httpHeaders: z.tuple([z.object({ name: z.literal('Host'), value: z.string() })]),
})
const mount = z.object({
  name: z.string(),
  mountPath: z.string(),
  readOnly: z.boolean().optional(),
})
const container = z.object({
  ports: z.tuple([z.object({ name: z.literal('http'), containerPort: z.number() })]),
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  volumeMounts: z.array(mount),
  securityContext: z.unknown(),
  startupProbe: z.object({ httpGet }).loose(),
  readinessProbe: z.object({ httpGet }).loose(),
})
const labels = z.record(z.string(), z.string())
const pod = z.object({
  securityContext: z
    .object({ runAsNonRoot: z.literal(true), runAsUser: z.number(), fsGroup: z.number() })
    .loose(),
  automountServiceAccountToken: z.literal(false),
  containers: z.tuple([container]),
  volumes: z.array(
    z
      .object({
        name: z.string(),
        secret: z
          .object({ defaultMode: z.literal(0o440) })
          .loose()
          .optional(),
      })
      .loose(),
  ),
})
const deployment = z.object({
  kind: z.literal('Deployment'),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    selector: z.object({ matchLabels: labels }),
    template: z.object({ metadata: z.object({ labels }), spec: pod }),
  }),
})
const ROLES = ['control-plane', 'resolver'] as const
const objects = objectsOf(manifests)
const podOf = (role: (typeof ROLES)[number]) =>
  deployment.parse(objects[`Deployment cloakroom-${role}`]).spec.template.spec
const envOf = (role: (typeof ROLES)[number]) =>
  Object.fromEntries(podOf(role).containers[0].env.map(({ name, value }) => [name, value]))

test('the manifests are what the chart renders', async () => {
  const { out, error } = await chart.render('{}')
  expect(error).toBe('')
  expect(objectsOf(out)).toEqual(objects)
  expect(Object.keys(objects).sort()).toEqual(
    ['Deployment', 'NetworkPolicy', 'PodDisruptionBudget', 'Service'].flatMap((kind) =>
      ROLES.map((role) => `${kind} cloakroom-${role}`),
    ),
  )
})

test('Kubernetes accepts every field, and rejects unknown ones', async () => {
  expect(await chart.check(manifests)).toEqual({ out: '', error: '', code: 0 })
  const { out } = await chart.render(
    '{settings: {LOG_LEVEL: warning, KEY_CACHE_SECONDS: 0}, resolver: {allowNetworks: [10.1.0.0/16]}, trustedProxies: [10.2.0.0/16, "fd00::/8"], networkPolicy: {enabled: false}}',
  )
  expect(await chart.check(out)).toEqual({ out: '', error: '', code: 0 })
  expect(out).toContain('{ name: "KEY_CACHE_SECONDS", value: "0" }')
  expect(out).toContain('{ name: TRUSTED_PROXIES, value: "10.2.0.0/16,fd00::/8" }')
  expect(out).not.toContain('NetworkPolicy')
  const wrong = manifests.replace('readOnlyRootFilesystem', 'readOnlyRootFs')
  expect((await chart.check(wrong)).error).toContain('unknown field')
})

describe.each(ROLES)('a pod of %s', (role) => {
  const {
    securityContext,
    containers: [main],
    volumes,
  } = podOf(role)

  test('a pod has known settings, all that production needs, and secrets in files only', () => {
    const known = describeConfig()
    const names = known.flatMap(({ name, file }): string[] => (file ? [name, file] : [name]))
    const env = envOf(role)
    expect(Object.keys(env).filter((name) => !names.includes(name))).toEqual([])
    expect(known.filter(({ name, file }) => file && env[name])).toEqual([])
    const config = readConfig(
      { ...env, ...mounted(env, join(chart.place, `settings-${role}`)) },
      () => {
        throw new Error('production makes no keys for itself')
      },
    )
    expect(config).toMatchObject({ ROLE: role, SERVICE_SETTINGS: 'production' })
  })

  test('a pod matches the image: its user, its port, its volume, and a read-only root', () => {
    const dockerfile = read('../../Dockerfile')
    const [, uid, gid] = /^USER (\d+):(\d+)$/m.exec(dockerfile) ?? []
    expect([securityContext.runAsUser, securityContext.fsGroup].map(String)).toEqual([
      uid ?? '',
      gid ?? '',
    ])
    expect(/^EXPOSE (.*)$/m.exec(dockerfile)?.[1]?.split(' ')).toContain(
      `${main.ports[0].containerPort}`,
    )
    expect(main.securityContext).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    })
    const written = main.volumeMounts.filter(({ readOnly }) => !readOnly)
    expect(written.map(({ mountPath }) => mountPath)).toEqual([
      /^VOLUME (.*)$/m.exec(dockerfile)?.[1] ?? '',
    ])
    expect(volumes.map(({ name }) => name).sort()).toEqual(
      main.volumeMounts.map(({ name }) => name).sort(),
    )
  })

  test('a pod is selected by its Deployment, Service, budget and policy, and by no other', () => {
    const { spec } = deployment.parse(objects[`Deployment cloakroom-${role}`])
    const chosen = spec.template.metadata.labels
    const selectors = z.object({
      spec: z.object({
        selector: z.union([z.object({ matchLabels: labels }), labels]).optional(),
        podSelector: z.object({ matchLabels: labels }).optional(),
      }),
    })
    for (const kind of ['Deployment', 'Service', 'PodDisruptionBudget', 'NetworkPolicy']) {
      const { selector, podSelector } = selectors.parse(objects[`${kind} cloakroom-${role}`]).spec
      const given = podSelector ?? selector
      expect(given?.matchLabels ?? given).toEqual(chosen as never)
    }
    expect(chosen['app.kubernetes.io/component']).toBe(role)
  })

  {
    const { test } = requires('go', 'postgresql')
    test("a pod's health is checked under its public name, and its address is rejected", async () => {
      const { socketDir, createDatabase } = await sharedCluster()
      const database = {
        DB_HOST: socketDir,
        DB_NAME: await createDatabase(),
        DB_USER: 'cloakroom',
        DB_PORT: '5432',
      }
      const env = {
        ...envOf(role),
        ...mounted(envOf(role), join(chart.place, `run-${role}`)),
        ...database,
      }
      const state = {
        SIGNED_STATE_FILE: join(chart.place, `${role}.sqlite`),
        DB_SSLMODE: 'disable',
      }
      // A resolver never migrates.
      const first =
        role === 'resolver' ? await startServer({ ...env, ...state, ROLE: 'control-plane' }) : null
      const server = await startServer({ ...env, ...state })
      const origin = role === 'resolver' ? server.resolver : server.controlPlane
      for (const { httpGet: probe } of [main.startupProbe, main.readinessProbe]) {
        const [{ value }] = probe.httpHeaders
        expect((await fetch(`${origin}${probe.path}`, { headers: { Host: value } })).status).toBe(
          200,
        )
        expect(
          (await fetch(`${origin}${probe.path}`, { headers: { Host: '10.1.2.3:8000' } })).status,
        ).toBe(400)
      }
      expect(server.output()).not.toContain('_FILE')
      for (const each of [server, first]) each?.kill('SIGTERM')
      await Promise.all([server.exited, first?.exited])
    }, 60_000)
  }
})

const peer = z
  .object({
    ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()).default([]) }).optional(),
  })
  .loose()
const policy = z.object({
  spec: z.object({
    policyTypes: z.tuple([z.literal('Ingress'), z.literal('Egress')]),
    egress: z.array(
      z.object({
        to: z.array(peer),
        ports: z.array(z.object({ protocol: z.string(), port: z.number() }).loose()),
      }),
    ),
  }),
})
const blocksOf = (role: string) =>
  policy
    .parse(objects[`NetworkPolicy cloakroom-${role}`])
    .spec.egress.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock ?? []))

test('the control plane reaches names and its database only, the resolver public addresses too', () => {
  const { egress } = policy.parse(objects['NetworkPolicy cloakroom-control-plane']).spec
  expect(egress.map(({ ports }) => ports.map(({ port }) => port))).toEqual([[53, 53], [5432]])
  expect(blocksOf('control-plane')).toEqual([])
  const [v4, v6] = blocksOf('resolver')
  expect([v4?.cidr, v6?.cidr]).toEqual(['0.0.0.0/0', '2000::/3'])
  // The excluded networks are exactly those that the resolver itself rejects.
  const networks = (texts: string[] | undefined) => parseCidrs(texts?.join(',') ?? '')
  expect(networks(v4?.except)).toEqual(NOT_PUBLIC_V4)
  expect(networks(v6?.except)).toEqual(NOT_PUBLIC_V6)
  expect(parseCidrs(v6?.cidr ?? '')).toEqual(GLOBAL_V6)
})

describe('External Secrets', () => {
  test('External Secrets accepts every field of the store', async () => {
    expect(
      (await chart.check(external.replace('refreshInterval', 'refreshEvery'))).error,
    ).toContain('refreshEvery')
  })

  test('External Secrets gets an environment by its webhook provider, and nothing with a revoked token', async () => {
    const stage = await openStage()
    const values = {
      DATABASE_URL: 'postgres://app:p"w$d@db/app',
      CERTIFICATE: 'line one\nline two\n',
      FLAG: 'true',
    }
    const agent = await createAgentWithToken(stage, {
      secrets: values,
      ofProject: true,
      capabilities: ['read'],
    })
    const token = await agent.issue({ environment: agent.environment, capabilities: ['read'] })
    await agent.provision(token)
    const own = external
      .replace('https://vault.example.com', stage.app.controlPlane)
      .replace('svc_wkl_…', token.text)
    const found = await chart.check(own, true)
    expect(found.error).toBe('')
    expect(JSON.parse(found.out)).toEqual(values)
    await agent.revoke(token.id)
    const refused = await chart.check(own)
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.error).toContain('401')
    await stage.stop()
  }, 60_000)
})
