/** Runs an image that image.ts has built as a container engine would: in namespaces, as its user, within its limits. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Image } from './image.ts'
import { inNamespaces } from './namespaces.ts'

type Run = { place: string; script: string }

/**
 * The commands of Docker that documents use, for the script's one image and one container. `docker run` applies its
 * options, and refuses those that it does not know. The container shares the script's network, so a published port
 * is the container's port. `settings` lists the options without a visible effect here: strace, too, sets
 * no-new-privileges.
 */
const DOCKER = `
    docker() {
      case $1 in
        run) shift; docker_run "$@" ;;
        cp) [ "\${2%%:*}" = "$container" ] && cp "$root\${2#*:}" "$3" ;;
        *) unknown "$@" ;;
      esac
    }
    docker_run() {
      detached=
      while :; do
        case $1 in
          --detach) detached=yes ;;
          --rm) ;;
          --read-only) mount -o remount,bind,ro "$root" ;;
          --*) apply "$1" "$2"; shift ;;
          *) break ;;
        esac
        shift
      done
      [ "$1" = cloakroom ] || unknown run "$1"
      shift
      if [ -z "$detached" ]; then in_container $entrypoint "$@"; else server; fi
    }
    apply() {
      case "$1 $2" in
        '--security-opt no-new-privileges')
          privileges=--no-new-privs settings="$settings$2\\n" ;;
        --volume*)
          volume="$place/volume-\${2%%:*}"
          cp -a "$root\${2#*:}" "$volume" && mount --bind "$volume" "$root\${2#*:}" ;;
        --name*) container=$2 ;;
        --cap-drop* | --restart* | --stop-timeout* | --publish*) settings="$settings\${1#--} $2\\n" ;;
        *) unknown run "$@" ;;
      esac
    }
    unknown() { echo "docker $* is unknown" >&2; exit 1; }
`

/**
 * Runs a script of the shell beside the image, in namespaces that are gone with it. In it, `docker` runs the image,
 * `in_container` runs a program of the image, `server` starts it again, `until_healthy` waits by its HEALTHCHECK, and
 * `stop` sends its STOPSIGNAL. Lines behind `>> name` become a list by that name.
 */
export async function runImage(
  image: Image,
  { place, script }: Run,
): Promise<Record<string, string[]>> {
  const { root, env, directory, user, health, stopSignal, entrypoint, command } = image
  const [uid = '', gid = ''] = user.split(':')
  const words = (list: readonly string[]) => list.map((word) => `'${word}'`).join(' ')
  const set = Object.entries({ PATH: '/usr/local/bin:/usr/bin:/bin', ...env })
  const prelude = `
    export root='${root}' secrets='${place}/secrets' log='${place}/log' trace='${place}/trace'
    place='${place}' entrypoint='${entrypoint.join(' ')}' privileges= settings=
    mkdir "$secrets" && mkdir -p "$root/run/secrets"
    ip link set lo up
    mount --bind "$root" "$root"
    mount --bind "$secrets" "$root/run/secrets" && mount -o remount,bind,ro "$root/run/secrets"
    mount -t proc proc "$root/proc" && mount -t proc proc /proc
    mount -t tmpfs -o mode=755 dev "$root/dev"
    for name in null zero random urandom; do
      : >"$root/dev/$name" && mount --bind "/dev/$name" "$root/dev/$name"
    done
    mount -o remount,ro "$root/dev"
    given() {
      before="$1"; shift
      exec env -i ${words(set.map(([name, value]) => `${name}=${value}`))} \\
        \${SECRET_KEY_FILE:+SECRET_KEY_FILE=$SECRET_KEY_FILE} \\
        \${ENCRYPTION_KEY_FILE:+ENCRYPTION_KEY_FILE=$ENCRYPTION_KEY_FILE} \\
        $before setpriv $privileges unshare --root=$root --wd=${directory} --setgid=${gid} --setuid=${uid} -- "$@"
    }
    in_container() ( given '' "$@" )
    server() {
      given "strace -ff -qq --seccomp-bpf -e trace=%file -o $trace" ${words([...entrypoint, ...command])} \\
        >"$log.out" 2>"$log" & starting=$!
    }
    until_healthy() {
      until in_container ${words(health)} >"$log.health"; do
        kill -0 $starting || { cat "$log"; exit 1; }
        sleep 0.2
      done
      cat "$log.health"
      pid=$(pgrep --parent $starting)
    }
    stop() { kill -s ${stopSignal.replace('SIG', '')} $pid; code=0; wait $starting || code=$?; }
  `
  const file = join(place, 'script')
  writeFileSync(file, `${prelude}${DOCKER}\n${script}`)
  return inNamespaces(file)
}
