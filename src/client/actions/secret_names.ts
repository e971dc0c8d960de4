/** The names of all secrets of a workspace, and in which environments they are. As the server lists them: unsigned. */
import { listProjects, showCoverage } from '../../features/projects/contract.ts'
import type { Api } from '../http/api.ts'

/** Projects whose names are read, and pages of each. */
const MOST_PROJECTS = 50
const MOST_PAGES = 10
const PAGE = 500
/** Projects that are read at the same time. */
const AT_ONCE = 6

export type NamesOfProject = {
  projectId: string
  project: string
  /** `missing` are the environments that have other secrets, and not this one. */
  secrets: { key: string; environments: string[]; missing: string[] }[]
  isWhole: boolean
}

export async function readSecretNames(api: Api, workspace_id: string): Promise<NamesOfProject[]> {
  const projects = await api.list(listProjects, { query: { workspace_id } })
  const read: NamesOfProject[] = []
  const some = projects.slice(0, MOST_PROJECTS)
  for (let from = 0; from < some.length; from += AT_ONCE) {
    const next = some.slice(from, from + AT_ONCE)
    read.push(...(await Promise.all(next.map((project) => readNames(api, project)))))
  }
  return read
}

async function readNames(api: Api, { id, name }: { id: string; name: string }) {
  const keys: { key: string; environments: string[] }[] = []
  let cursor: string | null = null
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query: { limit: number; cursor?: string } =
      cursor === null ? { limit: PAGE } : { limit: PAGE, cursor }
    const { data, next } = await api.page(showCoverage, { params: { project_id: id }, query })
    for (const { key, environments } of data.keys) {
      keys.push({ key, environments: Object.keys(environments).filter((at) => environments[at]) })
    }
    cursor = next
    if (cursor === null) break
  }
  const inUse = [...new Set(keys.flatMap(({ environments }) => environments))]
  const secrets = keys.map((secret) => ({
    ...secret,
    missing: inUse.filter((environment) => !secret.environments.includes(environment)),
  }))
  return { projectId: id, project: name, secrets, isWhole: cursor === null }
}
