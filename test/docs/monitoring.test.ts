// tier: all
/** Executes the commands and settings of docs/guides/monitoring.md. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { freePort } from '../bench/processes.ts'
import { KEYS } from '../binary/scene.ts'
import { startCollector } from '../support/collector.ts'
import { requires } from '../support/requires.ts'
import type { ServerProcess } from '../support/server_process.ts'
import { until } from '../support/until.ts'
import { linesOf, scriptOf } from './blocks.ts'
import { openServerMachine, stop } from './machine.ts'

let machine: Awaited<ReturnType<typeof openServerMachine>>
beforeAll(async () => {
  machine = await openServerMachine()
}, 120_000)
afterAll(() => machine.remove())

const portsOf = ({ controlPlane, resolver }: ServerProcess) => ({
  PORT: new URL(controlPlane).port,
  RESOLVER_PORT: new URL(resolver).port,
})

test('health checks both listeners of a running server', async () => {
  const health = scriptOf('docs/guides/monitoring.md', 'health')
  const server = await machine.serve('cloakroom serve', machine.settings)
  const ports = portsOf(server)
  expect(await machine.must(health, ports)).toMatch(/^control plane +healthy\nresolver +healthy\n$/)
  await stop(server)
  expect(await machine.run(health, ports)).toMatchObject({ code: 1 })
}, 120_000)

test('a third listener serves the metrics to an allowed host', async () => {
  const port = freePort()
  const script = scriptOf('docs/guides/monitoring.md', 'metrics').replace('9464', `${port}`)
  const server = await machine.serve(script, { ...machine.settings, ALLOWED_HOSTS: '127.0.0.1' })
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect(await answer.text()).toMatch(/^cloakroom_build_info\{.*\} 1$/m)
  await stop(server)
}, 120_000)

test('a server sends its traces to the collector, with the header and at the rate of the page', async () => {
  const collector = startCollector()
  const script = scriptOf('docs/guides/monitoring.md', 'traces')
  const placed = script.replace('http://127.0.0.1:4318', collector.origin)
  const server = await machine.serve(`${placed}cloakroom serve`, machine.settings)
  await until(
    async () => {
      await fetch(`${server.controlPlane}/api/status/`).then((answer) => answer.text())
      return collector.requests.length > 0
    },
    { stepMs: 20 },
  )
  server.kill('SIGUSR1')
  const written = /"message":"an error report was written".*"path":"([^"]+)"/
  const [, path = ''] = await until(() => written.exec(server.output()))
  expect(JSON.parse(readFileSync(path, 'utf8')).settings).toMatchObject({
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: 0.05,
  })
  rmSync(path)
  await stop(server)
  await collector.stop()
  const [sent] = collector.requests
  expect(sent?.path).toBe('/v1/traces')
  expect(sent?.headers.get('authorization')).toBe('Bearer TOKEN')
}, 120_000)

{
  const { test } = requires('lsof')
  test('each command of the page has a server write a report', async () => {
    const PORT = `${freePort()}`
    machine.writeUnit({ ...KEYS, PORT, RESOLVER_PORT: '0' })
    const commands = linesOf('docs/guides/monitoring.md', 'report')
    expect(commands).toHaveLength(3)
    for (const command of commands) {
      await machine.must('systemctl restart cloakroom')
      await machine.must(command.replace('tcp:8000', `tcp:${PORT}`))
      await until(() => machine.log().includes('"message":"an error report was written"'))
    }
    const files = readdirSync(machine.at('var/lib/cloakroom'))
    const reports = files.filter((name) => /^cloakroom-report-.+\.json$/.test(name))
    expect(reports).toHaveLength(3)
  }, 120_000)
}
