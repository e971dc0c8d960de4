// tier: all
/** Optional parts of the chart: an Ingress for each role, metrics for Prometheus, and backups. */
import { expect } from 'bun:test'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { readConfig } from '../../src/core/config/config.ts'
import { hostCheck } from '../../src/core/net/host.ts'
import { sharedCluster } from '../support/database.ts'
import { requires } from '../support/requires.ts'
import { startServer } from '../support/server_process.ts'
import { watched } from '../support/watched.ts'
import { type Chart, mounted, objectsOf, openChart, read } from './chart.ts'
import { BUILD_MS } from './go_programs.ts'

const { afterAll, beforeAll, describe, test } = requires('go')

let chart: Chart
beforeAll(async () => {
  chart = await openChart()
}, BUILD_MS)
afterAll(() => chart.remove())

const ROLES = ['control-plane', 'resolver'] as const

/** Read strictly by the code of Kubernetes. */
async function rendered(values: string) {
  const { out, error } = await chart.render(values)
  expect(error).toBe('')
  expect(await chart.check(out)).toEqual({ out: '', error: '', code: 0 })
  return objectsOf(out)
}

test('the chart renders no option by default, and each option independently', async () => {
  const usual = Object.keys(await rendered('{}'))
  const added = async (values: string) =>
    Object.keys(await rendered(values)).filter((name) => !usual.includes(name))
  for (const [values, names] of [
    ['{controlPlane: {ingress: {enabled: true}}}', ['Ingress cloakroom-control-plane']],
    ['{resolver: {ingress: {enabled: true}}}', ['Ingress cloakroom-resolver']],
    ['{metrics: {enabled: true}}', []],
    ['{metrics: {podMonitor: true}}', []],
    ['{metrics: {enabled: true, podMonitor: true}}', ['PodMonitor cloakroom']],
    ['{backup: {enabled: true}}', ['CronJob cloakroom-backup', 'NetworkPolicy cloakroom-backup']],
    ['{backup: {enabled: true}, networkPolicy: {enabled: false}}', ['CronJob cloakroom-backup']],
  ] as const)
    expect([values, (await added(values)).sort()]).toEqual([values, [...names]])
})

const ingress = z.object({
  metadata: z.object({ annotations: z.record(z.string(), z.string()).default({}) }),
  spec: z.object({
    ingressClassName: z.string(),
    tls: z.tuple([z.object({ hosts: z.tuple([z.string()]), secretName: z.string() })]),
    rules: z.tuple([
      z.object({
        host: z.string(),
        http: z.object({
          paths: z.tuple([
            z.object({
              path: z.literal('/'),
              pathType: z.literal('Prefix'),
              backend: z.object({
                service: z.object({ name: z.string(), port: z.object({ name: z.string() }) }),
              }),
            }),
          ]),
        }),
      }),
    ]),
  }),
})
const service = z.object({
  spec: z.object({ ports: z.tuple([z.object({ name: z.string(), port: z.number() })]) }),
})

describe('an Ingress', () => {
  test('an Ingress routes the host of each role to its Service, with TLS', async () => {
    const objects = await rendered(
      '{hosts: {vault: v.example.org, resolver: r.example.org}, controlPlane: {ingress: {enabled: true, className: own, tlsSecret: one}}, resolver: {ingress: {enabled: true, tlsSecret: two}}}',
    )
    const seen = ROLES.map((role) => {
      const { spec } = ingress.parse(objects[`Ingress cloakroom-${role}`])
      const [{ host, http }] = spec.rules
      const to = http.paths[0].backend.service
      const [port] = service.parse(objects[`Service ${to.name}`]).spec.ports
      expect(port.name).toBe(to.port.name)
      return [spec.ingressClassName, spec.tls[0], host, to.name, port.port]
    })
    expect(seen).toEqual([
      [
        'own',
        { hosts: ['v.example.org'], secretName: 'one' },
        'v.example.org',
        'cloakroom-control-plane',
        8000,
      ],
      [
        'nginx',
        { hosts: ['r.example.org'], secretName: 'two' },
        'r.example.org',
        'cloakroom-resolver',
        8080,
      ],
    ])
  })

  test('an Ingress gives ingress-nginx the settings of nginx.conf', async () => {
    const [general = '', , , resolver = ''] = read('nginx.conf').split(/^server \{/m)
    const said = (text: string, name: string) =>
      new RegExp(`^\\s*${name} +(\\S+);`, 'm').exec(text)?.[1]
    const of = (text: string) => ({
      'proxy-body-size': said(text, 'client_max_body_size'),
      'proxy-request-buffering': said(text, 'proxy_request_buffering'),
      'proxy-buffering': said(text, 'proxy_buffering'),
      'proxy-read-timeout': said(text, 'proxy_read_timeout')?.replace('1h', '3600'),
      'proxy-send-timeout': said(text, 'proxy_send_timeout')?.replace('1h', '3600'),
    })
    const objects = await rendered(
      '{controlPlane: {ingress: {enabled: true}}, resolver: {ingress: {enabled: true}}}',
    )
    for (const [role, text] of [
      ['control-plane', general],
      ['resolver', general + resolver],
    ] as const) {
      const { annotations } = ingress.parse(objects[`Ingress cloakroom-${role}`]).metadata
      const plain = Object.entries(annotations).map(([name, value]) => [
        name.replace('nginx.ingress.kubernetes.io/', ''),
        value,
      ])
      expect([role, Object.fromEntries(plain)]).toEqual([
        role,
        Object.fromEntries(Object.entries(of(text)).filter(([, value]) => value !== undefined)),
      ])
    }
  })

  test('an Ingress accepts annotations of another controller, and leaves out null ones', async () => {
    const name = 'nginx.ingress.kubernetes.io/proxy-body-size'
    const objects = await rendered(
      `{resolver: {ingress: {enabled: true, annotations: {${name}: null, example.com/a: "1"}}}}`,
    )
    const { annotations } = ingress.parse(objects['Ingress cloakroom-resolver']).metadata
    expect([annotations['example.com/a'], annotations[name]]).toEqual(['1', undefined])
  })
})

const variable = z.object({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z.object({ fieldRef: z.object({ fieldPath: z.string() }) }).optional(),
})
const pod = z.object({
  metadata: z.object({
    labels: z.record(z.string(), z.string()),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
  spec: z
    .object({
      containers: z.tuple([
        z
          .object({
            args: z.array(z.string()).default([]),
            ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
            env: z.array(variable),
          })
          .loose(),
      ]),
      volumes: z.array(z.object({ name: z.string() }).loose()),
    })
    .loose(),
})
type Pod = z.infer<typeof pod>
const deployment = z.object({ spec: z.object({ template: pod }) })
const cronJob = z.object({
  spec: z.object({
    schedule: z.string(),
    concurrencyPolicy: z.literal('Forbid'),
    jobTemplate: z.object({ spec: z.object({ template: pod }) }),
  }),
})

/** Variables and arguments with a kubelet's substitutions: fields of the pod, then `$(NAME)` of earlier variables. */
function started({ spec }: Pod, fields: Record<string, string>) {
  const [{ env: given, args }] = spec.containers
  const env: Record<string, string> = {}
  const filled = (text: string) => text.replace(/\$\((\w+)\)/g, (all, name) => env[name] ?? all)
  for (const { name, value = '', valueFrom } of given)
    env[name] = valueFrom ? (fields[valueFrom.fieldRef.fieldPath] ?? '') : filled(value)
  return { env, args: args.map(filled) }
}

const policy = z.object({
  spec: z.object({
    podSelector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    ingress: z.array(z.object({ from: z.unknown(), ports: z.unknown() })).default([]),
    egress: z.array(z.object({ to: z.unknown(), ports: z.unknown() })),
  }),
})

const METRICS = '{metrics: {enabled: true, podMonitor: true}}'

describe('metrics for Prometheus', () => {
  test('metrics have the port that pods, annotations, monitor and policy name, and no Service has', async () => {
    const usual = await rendered('{}')
    const objects = await rendered(METRICS)
    for (const role of ROLES) {
      const { metadata, spec } = deployment.parse(objects[`Deployment cloakroom-${role}`]).spec
        .template
      const { env } = started({ metadata, spec }, { 'status.podIP': '10.1.2.3' })
      expect(spec.containers[0].ports.at(-1)).toEqual({ name: 'metrics', containerPort: 9464 })
      expect([env.ADMIN_PORT, metadata.annotations]).toEqual([
        '9464',
        { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9464' },
      ])
      expect(objects[`Service cloakroom-${role}`]).toEqual(
        usual[`Service cloakroom-${role}`] as never,
      )
      const before = policy.parse(usual[`NetworkPolicy cloakroom-${role}`]).spec
      const { ingress: from, egress } = policy.parse(
        objects[`NetworkPolicy cloakroom-${role}`],
      ).spec
      const peers = {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } },
      }
      expect(from).toEqual([
        ...before.ingress,
        { from: [peers], ports: [{ protocol: 'TCP', port: 'metrics' }] },
      ])
      expect(egress).toEqual(before.egress)
      // The monitor selects by labels that the pods have.
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/name': 'cloakroom',
        'app.kubernetes.io/instance': 'cloakroom',
      })
    }
    expect(objects['PodMonitor cloakroom']?.spec).toEqual({
      jobLabel: 'app.kubernetes.io/name',
      selector: {
        matchLabels: {
          'app.kubernetes.io/name': 'cloakroom',
          'app.kubernetes.io/instance': 'cloakroom',
        },
      },
      podMetricsEndpoints: [{ port: 'metrics' }],
    })
  })

  test.each([
    ['10.1.2.3', '10.1.2.3:9464'],
    ['fd00::1', '[fd00::1]:9464'],
  ])("metrics are answered at the pod's address: %s", async (address, host) => {
    const objects = await rendered(METRICS)
    for (const role of ROLES) {
      const { template } = deployment.parse(objects[`Deployment cloakroom-${role}`]).spec
      const { env } = started(template, { 'status.podIP': address })
      const files = mounted(env, join(chart.place, `metrics-${role}-${env.POD_IP}`))
      const { ALLOWED_HOSTS } = readConfig({ ...env, ...files }, () => {
        throw new Error('production makes no keys for itself')
      })
      const demand = hostCheck(ALLOWED_HOSTS)
      demand(host)
      demand(role === 'resolver' ? 'resolver.example.com' : 'vault.example.com')
      expect(() => demand('10.9.9.9:9464')).toThrow()
    }
  })

  {
    const { test } = requires('go', 'postgresql')
    test.each(ROLES)(
      'metrics are found at the address of a %s',
      async (role) => {
        const objects = await rendered(METRICS)
        const { template } = deployment.parse(objects[`Deployment cloakroom-${role}`]).spec
        const { env } = started(template, { 'status.podIP': '127.0.0.1' })
        const { socketDir, createDatabase } = await sharedCluster()
        const all = {
          ...env,
          ...mounted(env, join(chart.place, `figures-${role}`)),
          SIGNED_STATE_FILE: join(chart.place, `figures-${role}.sqlite`),
          ADMIN_PORT: '0',
          DB_HOST: socketDir,
          DB_NAME: await createDatabase(),
          DB_USER: 'cloakroom',
          DB_SSLMODE: 'disable',
        }
        // A resolver never migrates.
        const first =
          role === 'resolver' ? await startServer({ ...all, ROLE: 'control-plane' }) : null
        const server = await startServer(all)
        const [, url = ''] = /^ +metrics +(http:\S+)$/m.exec(server.output()) ?? []
        const { port } = new URL(url)
        const ask = async (host: string) =>
          (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { Host: host } })).status
        expect([await ask(`127.0.0.1:${port}`), await ask(`10.9.9.9:${port}`)]).toEqual([200, 400])
        for (const each of [server, first]) each?.kill('SIGTERM')
        await Promise.all([server.exited, first?.exited])
      },
      60_000,
    )
  }
})

describe('a backup', () => {
  test('a backup pod reaches names and the database, and accepts no connections', async () => {
    const objects = await rendered('{backup: {enabled: true}}')
    const { spec } = policy.parse(objects['NetworkPolicy cloakroom-backup'])
    const control = policy.parse(objects['NetworkPolicy cloakroom-control-plane']).spec
    expect([spec.ingress, spec.egress]).toEqual([[], control.egress])
    const { metadata } = cronJob.parse(objects['CronJob cloakroom-backup']).spec.jobTemplate.spec
      .template
    expect(metadata.labels).toEqual(spec.podSelector.matchLabels)
    expect(Object.values(metadata.labels)).toContain('backup')
  })

  test('a backup pod has the user, files and limits of a control plane, and its own volume', async () => {
    const objects = await rendered(
      '{backup: {enabled: true, volumeClaim: own, schedule: "0 * * * *", recipients: [age1abc]}}',
    )
    const { schedule, jobTemplate } = cronJob.parse(objects['CronJob cloakroom-backup']).spec
    const one = jobTemplate.spec.template
    const other = deployment.parse(objects['Deployment cloakroom-control-plane']).spec.template
    const fields = {
      "metadata.labels['batch.kubernetes.io/job-name']": 'cloakroom-backup-29384730',
    }
    const { env, args } = started(one, fields)
    const { JOB, ...rest } = env
    expect(rest).toEqual(started(other, {}).env)
    expect(one.spec.securityContext).toEqual(other.spec.securityContext)
    expect(one.spec.containers[0].securityContext).toEqual(other.spec.containers[0].securityContext)
    expect(one.spec.containers[0].image).toEqual(other.spec.containers[0].image)
    expect(one.spec.containers[0].resources).toEqual(other.spec.containers[0].resources)
    expect(one.spec.volumes).toEqual([
      ...other.spec.volumes,
      { name: 'backups', persistentVolumeClaim: { claimName: 'own' } },
    ])
    expect([schedule, args]).toEqual([
      '0 * * * *',
      ['backup', '--recipient', 'age1abc', `/backups/${JOB}.backup`],
    ])
  })

  {
    const { test } = requires('go', 'postgresql')
    test("a backup is made by the pod's command, once for each Job", async () => {
      const objects = await rendered('{backup: {enabled: true}}')
      const { template } = cronJob.parse(objects['CronJob cloakroom-backup']).spec.jobTemplate.spec
      const { socketDir, createDatabase } = await sharedCluster()
      const folder = join(chart.place, 'backups')
      mkdirSync(folder)
      const { env, args } = started(template, {
        "metadata.labels['batch.kubernetes.io/job-name']": 'cloakroom-backup-1',
      })
      const all = {
        ...env,
        ...mounted(env, join(chart.place, 'run-backup')),
        SIGNED_STATE_FILE: join(chart.place, 'backup.sqlite'),
        DB_HOST: socketDir,
        DB_NAME: await createDatabase(),
        DB_USER: 'cloakroom',
        DB_SSLMODE: 'disable',
      }
      const server = await startServer(all)
      const backUp = async () => {
        const words = args.map((word) => word.replace('/backups', folder))
        const child = watched(
          Bun.spawn([process.execPath, join(import.meta.dir, '../../src/main.ts'), ...words], {
            env: { PATH: process.env.PATH, HOME: chart.place, ...all },
            stdout: 'pipe',
            stderr: 'pipe',
          }),
        )
        const said = await new Response(child.stderr).text()
        return [await child.exited, said.includes('already exists')]
      }
      expect(await backUp()).toEqual([0, false])
      expect(existsSync(join(folder, 'cloakroom-backup-1.backup'))).toBe(true)
      expect(await backUp()).toEqual([expect.any(Number), true])
      server.kill('SIGTERM')
      await server.exited
    }, 60_000)
  }
})
