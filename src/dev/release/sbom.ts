/**
 * The bill of materials, CycloneDX 1.6: the packages in bun.lock that an executable is built from, their dependencies,
 * and the runtimes. The bundler leaves out unused code, so an executable may contain less than the bill lists.
 */
import { join } from 'node:path'
import { Contrib, Enums, Models, Serialize, Spec, Validation } from '@cyclonedx/cyclonedx-library'
import validateExpression from 'spdx-expression-parse'
import project from '../../../package.json' with { type: 'json' }
import { consolePackages } from './console_packages.ts'
import { closureOf, type Package, packageAt } from './lock.ts'
import type { Source } from './source.ts'
import type { ReleaseTarget } from './targets.ts'

const ROOT = join(import.meta.dir, '..', '..', '..')
const MODULES = join(ROOT, 'node_modules')

const { FromNodePackageJson, License } = Contrib
const builder = new FromNodePackageJson.Builders.ComponentBuilder(
  new FromNodePackageJson.Factories.ExternalReferenceFactory(),
  new License.Factories.LicenseFactory(validateExpression),
)

/** Returns the text after validation against the schema of CycloneDX. @throws Error if it does not fit */
export async function billOfMaterials(
  targets: readonly ReleaseTarget[],
  source: Source,
): Promise<string> {
  const direct = [...Object.keys(project.dependencies), ...consolePackages()]
  const packages = closureOf(direct)
  const components = new Map<string, Models.Component>()
  for (const each of packages) components.set(each.key, await componentOf(each))
  for (const { key, needs } of packages) {
    const known = needs.flatMap((need) => components.get(need)?.bomRef ?? [])
    for (const need of known) components.get(key)?.dependencies.add(need)
  }
  const product = builder.makeComponent(project, Enums.ComponentType.Application)
  if (!product) throw new Error('package.json has no name')
  product.bomRef.value = purlOf(project)
  for (const name of direct) {
    const component = components.get(name)
    if (component) product.dependencies.add(component.bomRef)
  }
  for (const component of targets.map(runtimeOf)) {
    components.set(component.bomRef.value ?? '', component)
    product.dependencies.add(component.bomRef)
  }
  const bom = new Models.Bom({
    components: new Models.ComponentRepository(components.values()),
    metadata: new Models.Metadata({ component: product, timestamp: source.time }),
  })
  return validateBom(serializeBom(bom))
}

async function componentOf(each: Package): Promise<Models.Component> {
  const folder = join(
    MODULES,
    ...(each.key.match(/(@[^/]+\/)?[^/]+/g) ?? []).join('/node_modules/').split('/'),
  )
  const described = await Bun.file(join(folder, 'package.json')).json()
  const component = builder.makeComponent(described)
  if (!component) throw new Error(`${each.key} does not say its name`)
  return identifyComponent(component, each)
}

/** Each executable holds one of them. */
function runtimeOf({ runtime }: ReleaseTarget): Models.Component {
  const each = packageAt(runtime)
  const [group, name = ''] = each.name.split('/')
  const component = new Models.Component(Enums.ComponentType.Platform, name, {
    ...(group === undefined ? {} : { group }),
    version: each.version,
    scope: Enums.ComponentScope.Optional,
    description: 'the runtime of Bun; an executable holds that of its platform',
  })
  return identifyComponent(component, each)
}

function identifyComponent(component: Models.Component, each: Package): Models.Component {
  component.purl = purlOf(each)
  component.bomRef.value = `${component.purl}#${each.key}`
  component.hashes.set(Enums.HashAlgorithm['SHA-512'], digestOf(each))
  return component
}

/** Returns the digest of the package's archive, in hex. */
export function digestOf({ integrity }: Package): string {
  return Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
}

/** Returns a package's address among all kinds of packages (package-url). */
export function purlOf({ name, version }: { name: string; version: string }): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

function serializeBom(bom: Models.Bom): string {
  const normalizers = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6)
  const serializer = new Serialize.JsonSerializer(normalizers)
  return serializer.serialize(bom, { sortLists: true, space: 2 })
}

async function validateBom(text: string): Promise<string> {
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
  const problem = await validator.validate(text)
  if (problem !== null)
    throw new Error(`the bill of materials is invalid: ${JSON.stringify(problem)}`)
  return `${text}\n`
}
