/**
 * A separate network for a database: this machine, a router and the database, in network namespaces. The router
 * loses packets permanently.
 */
import { unprivileged } from '../support/postgres.ts'
import { watched } from '../support/watched.ts'

export type Network = {
  /** The database's address. */
  address: string
  /** The command to start it there, as the given user. */
  within(command: readonly string[]): string[]
  /** From now on every packet is dropped in both directions, without any notice. */
  cut(): void
  mend(): void
  remove(): void
}

/** An address in the range for tests of networks (RFC 2544). */
const subnet = () => `198.18.${Math.floor(Math.random() * 256)}`

/** @throws Error with the reason if it is impossible: it needs root, and a system with network namespaces */
export function makeNetwork(): Network {
  const id = Math.random().toString(36).slice(2, 8)
  const [router, place] = [`cr-${id}-r`, `cr-${id}-d`]
  const net = subnet()
  const [here, address] = [`${net}.1`, `${net}.6`]
  const lost = (verb: 'add' | 'del') => {
    for (const end of [here, address]) ip(`-n ${router} route ${verb} blackhole ${end}/32`)
  }
  const remove = () => {
    // Their interfaces are removed with them, and the routes here with those.
    for (const name of [router, place]) tryIp(`netns del ${name}`)
  }
  try {
    ip(`netns add ${router}`)
    ip(`netns add ${place}`)
    ip(`link add name cr${id}a type veth peer name a netns ${router}`)
    ip(`-n ${router} link add name b type veth peer name c netns ${place}`)
    for (const [at, name, given] of [
      ['', `cr${id}a`, here],
      [`-n ${router} `, 'a', `${net}.2`],
      [`-n ${router} `, 'b', `${net}.5`],
      [`-n ${place} `, 'c', address],
    ]) {
      ip(`${at}addr add ${given}/30 dev ${name}`)
      ip(`${at}link set dev ${name} up`)
    }
    ip(`netns exec ${router} sysctl -qw net.ipv4.ip_forward=1`)
    ip(`route add ${net}.4/30 via ${net}.2`)
    ip(`-n ${place} route add default via ${net}.5`)
  } catch (error) {
    remove()
    throw error
  }
  const owner = unprivileged()
  const as = owner
    ? ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', '--']
    : []
  return {
    address,
    within: (command) => ['ip', 'netns', 'exec', place, ...as, ...command],
    cut: () => lost('add'),
    mend: () => lost('del'),
    remove,
  }
}

function ip(words: string): void {
  const problem = tryIp(words)
  if (problem !== null) throw new Error(`ip ${words}: ${problem}`)
}

function tryIp(words: string): string | null {
  if (Bun.which('ip') === null) return 'there is no ip (Debian: iproute2)'
  const ran = watched(Bun.spawnSync(['ip', ...words.split(' ')]))
  return ran.exitCode === 0 ? null : `${ran.stderr}`.trim()
}
