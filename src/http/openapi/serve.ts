import { sha256Hex } from '../../auth/secrets.ts'
import { lazy } from '../../model/lazy.ts'
import { publicText, type PublicText } from '../public-text.ts'
import { SERVER } from './server.ts'
import type { DocumentSource } from './source.ts'
import type { OpenApiDocument } from './types.ts'

const documentModule = lazy(() => import('./document.ts'))
const llmsModule = lazy(() => import('./llms.ts'))

/** For how many origins the texts are kept, the first ones: each client names the origin that it reaches the service at. */
const ORIGINS = 8

interface Made {
  readonly document: OpenApiDocument
  /** the document as JSON, whose server is relative, and its ETag */
  readonly json: string
  readonly revision: string
  /** the same with the server of an origin, and what agents need of it, by public URL */
  readonly texts: Readonly<Record<'json' | 'llms', Map<string, PublicText>>>
}

/** The document, with its text. It is made when it is first asked for: a start should not wait for it. */
export class ReferenceDocument {
  readonly #source: () => DocumentSource
  #made: Promise<Made> | undefined
  #madeFor: string | undefined

  /** @param source what it is made from; another policy makes another document */
  constructor(source: () => DocumentSource) {
    this.#source = source
  }

  async document(): Promise<OpenApiDocument> {
    return (await this.#make()).document
  }

  /**
   * The document as JSON.
   * @param origin the public origin, which its server begins with: many generators take no relative one
   */
  async text(origin: string): Promise<PublicText> {
    const { json, revision, texts } = await this.#make()
    return kept(texts.json, origin, () => withServer(json, revision, `${origin}${SERVER}`))
  }

  /**
   * What else an agent needs than the base URL and a token.
   * @param url the public URL
   */
  async llmsText(url: string): Promise<PublicText> {
    const { createLlmsText } = await llmsModule()
    const { document, texts } = await this.#make()
    return kept(texts.llms, url, () => publicText('text/plain; charset=utf-8', createLlmsText(document, url)))
  }

  #make(): Promise<Made> {
    const source = this.#source()
    if (this.#made === undefined || this.#madeFor !== source.engine.hash) {
      this.#madeFor = source.engine.hash
      const made = this.#create(source)
      this.#made = made
      // It is made again after a failure.
      made.catch(() => {
        if (this.#made === made) this.#made = undefined
      })
    }
    return this.#made
  }

  async #create(source: DocumentSource): Promise<Made> {
    const { createDocument } = await documentModule()
    const document = createDocument(source)
    const json = JSON.stringify(document)
    return { document, json, revision: sha256Hex(json), texts: { json: new Map(), llms: new Map() } }
  }
}

/** The text of a URL. The texts of further URLs are neither kept nor compressed: anybody can ask for any number of them. */
function kept(texts: Map<string, PublicText>, url: string, make: () => PublicText): PublicText {
  const known = texts.get(url)
  if (known !== undefined) return known
  const made = make()
  if (texts.size >= ORIGINS) return { ...made, isKept: false }
  texts.set(url, made)
  return made
}

/** The document with another server. It is not serialized and hashed again. */
function withServer(json: string, revision: string, url: string): PublicText {
  const own = json.replace(`"url":"${SERVER}"`, () => `"url":${JSON.stringify(url)}`)
  const type = 'application/json; charset=utf-8'
  return { type, bytes: Buffer.from(own), status: 200, revision: sha256Hex(`${revision} ${url}`) }
}
