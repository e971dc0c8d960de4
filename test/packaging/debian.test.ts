// tier: all
/**
 * The Debian package, installed for real: by dpkg in a copy of this system (an overlay in its own mount namespace,
 * which disappears with its last process). A script prints the life of the package, and this file checks it.
 */
import { expect } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import project from '../../package.json' with { type: 'json' }
import { makeDebianPackage } from '../../src/dev/release/debian.ts'
import { executable } from '../binary/executable.ts'
import { linesOf } from '../docs/blocks.ts'
import { requires } from '../support/requires.ts'
import { watched } from '../support/watched.ts'

const { afterAll, beforeAll, test } = requires('dpkg')

const place = mkdtempSync(join(tmpdir(), 'cr-debian-'))
const SOURCE = { commit: null, time: new Date('2026-01-02T03:04:05Z') }
const ARCHITECTURES: Record<string, string> = { x64: 'amd64', arm64: 'arm64' }
let file: string

beforeAll(async () => {
  const architecture = ARCHITECTURES[process.arch] ?? process.arch
  const contents = { architecture, source: SOURCE, folder: place }
  file = await makeDebianPackage({ ...contents, executable: await executable() })
}, 120_000)

afterAll(() => rmSync(place, { recursive: true, force: true }))

async function run(command: string[]) {
  const child = watched(Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' }))
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, stdout, stderr }
}

/** Runs a shell script in the copy. Each line that it prints after `>> name` becomes a list by that name. */
async function inCopy(script: string): Promise<Record<string, string[]>> {
  for (const name of ['up', 'work', 'root']) mkdirSync(join(place, name))
  writeFileSync(join(place, 'script'), script)
  const mount = `mount -t overlay overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" "$1/root"
    cp "$1/script" "$1/${file}" "$1/root/root/" && mount -t proc proc "$1/root/proc" &&
    mount --rbind /dev "$1/root/dev" && mount -t tmpfs tmp "$1/root/tmp" && mount -t tmpfs run "$1/root/run" &&
    ip link set lo up && exec chroot "$1/root" sh /root/script`
  const { code, stdout, stderr } = await run([
    ...['unshare', '--mount', '--pid', '--net', '--fork', '--kill-child'],
    ...['sh', '-ec', mount, 'sh', place],
  ])
  if (code !== 0) throw new Error(`${stdout}\n${stderr}`)
  const said: Record<string, string[]> = {}
  for (const part of stdout.split(/^>> /m).slice(1)) {
    const [name = '', ...lines] = part.trimEnd().split('\n')
    said[name] = lines
  }
  return said
}

const [INSTALL = '', ENABLE = ''] = linesOf('docs/start/install.md', 'debian')

/** Begins with the commands of docs/start/install.md. Instead of systemd, a function starts what the unit names. */
const LIFE = `
set -u
export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
quietly() { "$@" >/root/log 2>&1 || { cat /root/log; exit 1; }; }
as_cloakroom="setpriv --reuid cloakroom --regid cloakroom --clear-groups env -i DATA_DIR=/var/lib/cloakroom"
sudo() { "$@"; }
systemctl() {
  unit=/usr/lib/systemd/system/$3.service
  [ "$1 $2" = 'enable --now' ] && SYSTEMD_OFFLINE=1 command systemctl enable "$3" || exit 1
  $as_cloakroom $(grep '^[A-Z]' /etc/cloakroom.env) $(sed -n 's/^ExecStart=//p' $unit) & started=$!
}
! getent passwd cloakroom >/dev/null || exit 1

cd /root
quietly ${INSTALL.replace(/cloakroom_.*\.deb/, 'PACKAGE')}
echo '>> version'; cloakroom --version
echo '>> user'; getent passwd cloakroom | cut -d : -f 1,6,7
echo '>> modes'; stat -c '%n %a %U' /usr/bin/cloakroom /etc/cloakroom.env /var/lib/cloakroom
echo '>> owner of the unit'; dpkg -S /usr/lib/systemd/system/cloakroom.service
echo '>> enabled'; ls /etc/systemd/system/multi-user.target.wants 2>/dev/null | grep cloakroom
echo '>> self-check'
cd /var/lib/cloakroom
$as_cloakroom cloakroom self-check | cut -c 1-16
echo '>> unit'; systemd-analyze verify /usr/lib/systemd/system/cloakroom.service 2>&1
systemd-analyze security --offline=true --no-pager --threshold=20 /usr/lib/systemd/system/cloakroom.service >/dev/null; echo $?
quietly ${ENABLE}
echo '>> enabled by the page'; ls /etc/systemd/system/multi-user.target.wants | grep cloakroom
echo '>> health'
until cloakroom health >/root/health; do kill -0 $started || exit 1; sleep 0.2; done; cat /root/health
kill $started; wait $started; rm -r /var/lib/cloakroom/*

echo 'PORT=9000' >/etc/cloakroom.env
quietly dpkg -i --force-confdef --force-confold /root/PACKAGE
echo '>> settings after the next version'; cat /etc/cloakroom.env

echo secret >/var/lib/cloakroom/data; chown cloakroom: /var/lib/cloakroom/data
quietly dpkg --remove cloakroom
echo '>> after remove'; ls /usr/bin/cloakroom /etc/cloakroom.env /var/lib/cloakroom/data 2>/dev/null
dpkg --purge cloakroom >/dev/null 2>/root/said
echo '>> after purge with data'; ls /etc/cloakroom.env /var/lib/cloakroom/data 2>/dev/null; getent passwd cloakroom | cut -d : -f 1
echo '>> what purge says'; cat /root/said

quietly dpkg -i /root/PACKAGE
rm /var/lib/cloakroom/data
quietly dpkg --purge cloakroom
echo '>> after purge without data'; ls -d /var/lib/cloakroom 2>/dev/null; getent passwd cloakroom
echo '>> end'
`

test('the package states its contents and dependencies', async () => {
  const { stdout } = await run(['dpkg-deb', '--field', join(place, file)])
  expect(stdout).toStartWith(`Package: cloakroom\nVersion: ${project.version}\nArchitecture: `)
  expect(stdout).toContain('Depends: libc6 (>= 2.17), passwd\n')
})

{
  const { describe, test, beforeAll } = requires('network-namespaces', 'dpkg', 'systemd')
  describe('installed', () => {
    let said: Record<string, string[]>
    beforeAll(async () => {
      said = await inCopy(LIFE.replaceAll('PACKAGE', file))
    }, 120_000)

    test('the package creates a user, its own folder, settings that only root reads, and a unit that is not started', () => {
      expect(said.version).toEqual([project.version])
      expect(said.user).toEqual(['cloakroom:/var/lib/cloakroom:/usr/sbin/nologin'])
      expect(said.modes).toEqual([
        '/usr/bin/cloakroom 755 root',
        '/etc/cloakroom.env 600 root',
        '/var/lib/cloakroom 700 cloakroom',
      ])
      expect(said['owner of the unit']).toEqual([
        'cloakroom: /usr/lib/systemd/system/cloakroom.service',
      ])
      expect(said.enabled).toEqual([])
      expect(said.unit).toEqual(['0'])
    })

    test("the package's user gets no finding from doctor", () => {
      expect(said['self-check']?.map((line) => line.trimEnd())).toEqual(
        ['settings', 'vectors', 'tls', 'files', 'database', 'clock', 'limits'].map(
          (name) => `ok      ${name}`,
        ),
      )
    })

    test('the commands of the page install the package and start it with its settings', () => {
      expect(INSTALL).toMatch(/ \.\/cloakroom_[\d.]+_amd64\.deb$/)
      expect(said['enabled by the page']).toEqual(['cloakroom.service'])
      expect(said.health).toEqual(['control plane  healthy', 'resolver       healthy'])
    })

    test('changed settings survive the next version', () => {
      expect(said['settings after the next version']).toEqual(['PORT=9000'])
    })

    test('remove deletes the program, purge deletes the settings, and neither deletes data', () => {
      expect(said['after remove']).toEqual(['/etc/cloakroom.env', '/var/lib/cloakroom/data'])
      expect(said['after purge with data']).toEqual(['/var/lib/cloakroom/data', 'cloakroom'])
      expect(said['what purge says']?.join()).toContain('/var/lib/cloakroom is kept')
    })

    test('purge leaves no files if there is no data', () => {
      expect(said['after purge without data']).toEqual([])
    })
  })
}
