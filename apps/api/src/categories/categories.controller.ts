import {
  AddCategory,
  type Category,
  type Condition,
  GetCategory,
  ListCategories,
  type ListCategoriesInput,
  NameCategory,
  DeleteCategory,
} from '@adoption-store/domain';
import { Turns } from '@adoption-store/infrastructure/turns';
import { queryOf } from '@adoption-store/web/edge';
import { Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiContext } from '../http/answers/api-context.js';
import { Idempotency } from '../idempotency/idempotency.js';
import { Conditions } from '../http/operations/conditions.js';
import { JsonBody } from '../http/operations/json-body.decorator.js';
import { Operation } from '../http/operations/operation.js';
import { presentPage, sendPage } from '../http/operations/pages.js';
import { Cursor, Int64s, Limit } from '../http/operations/query-parameters.js';
import { page } from '../http/operations/schema.js';
import { ValidQuery } from '../http/operations/valid-query.decorator.js';
import {
  categoryJson,
  CategoryId,
  CATS,
  NewCategoryBody,
  presentCategories,
  presentCategory,
} from './category.schema.js';

const CURSOR = 'categories';

/** The query of GET /v1/categories. Each parameter may occur once, except `id`. */
class ListCategoriesQuery implements ListCategoriesInput {
  @Limit()
  limit?: number;

  @Int64s('id', 'Only these categories.')
  ids?: bigint[];

  @Cursor(CURSOR)
  after?: bigint;
}

@Controller()
export class CategoriesController {
  constructor(
    private readonly context: ApiContext,
    private readonly turns: Turns,
    private readonly idempotency: Idempotency,
    private readonly listCategories: ListCategories,
    private readonly addCategory: AddCategory,
    private readonly getCategory: GetCategory,
    private readonly nameCategory: NameCategory,
    private readonly deleteCategory: DeleteCategory,
  ) {}

  @Operation('GET /v1/categories', {
    id: 'listCategories',
    scope: 'pets:read',
    stability: 'beta',
    summary: 'List categories',
    description: 'Lists categories by their identifiers, ascending. Pages work as for animals.',
    success: { 200: ['A page of categories.', page('Category', CATS, { id: 2, name: 'Dogs' })] },
  })
  async list(
    @ValidQuery(ListCategoriesQuery) query: ListCategoriesQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { account } = request.caller;
    const { items, next } = await this.turns.reads.run(account, () => this.listCategories.execute(query));
    const shown = presentPage(CURSOR, queryOf(request.url), presentCategories(items), next);
    return sendPage(request, reply, this.context.origin(request), shown);
  }

  @Operation('POST /v1/categories', {
    id: 'createCategory',
    scope: 'pets:manage',
    stability: 'beta',
    summary: 'Add a category',
    description:
      'Adds a category under an identifier that neither a category nor an animal has. A name that another category has, ' +
      'without regard to case, is refused with 409 `category_name_taken`.',
    examples: { 'a category': { name: 'Birds' } },
    success: { 201: ['The category has been added.', categoryJson({ id: 4, name: 'Birds' })] },
  })
  async add(
    @JsonBody(NewCategoryBody) body: NewCategoryBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.idempotency.once(request, reply, async (transaction) => {
      const category = await this.addCategory.execute(body, transaction);
      return {
        body: presentCategory(category),
        location: `${this.context.origin(request)}/v1/categories/${category.id}`,
      };
    });
  }

  @Operation('GET /v1/categories/{categoryId}', {
    id: 'getCategory',
    scope: 'pets:read',
    stability: 'beta',
    summary: 'Get a category',
    description: 'Gets a category.',
    success: { 200: ['The category.', categoryJson(CATS)] },
    refusals: [404],
  })
  async get(@CategoryId() id: bigint, @Req() { caller }: FastifyRequest): Promise<string> {
    return presentCategory(await this.turns.reads.run(caller.account, () => this.getCategory.execute(id)));
  }

  @Operation('PUT /v1/categories/{categoryId}', {
    id: 'nameCategory',
    scope: 'pets:manage',
    stability: 'beta',
    summary: 'Name a category',
    description:
      'Gives the identifier this name, whether it has a name or not; animals may carry it already. A name that another ' +
      'category has, without regard to case, is refused with 409 `category_name_taken`. With `If-Match` a category that ' +
      'is still in that version is renamed, otherwise the response is 412. With `If-None-Match: *` only an identifier ' +
      'without a name is named.',
    examples: { 'another name': { name: 'Big cats' } },
    success: {
      200: ['The category has been renamed.', categoryJson({ ...CATS, name: 'Big cats' })],
      201: ['The identifier has been named.', categoryJson({ ...CATS, name: 'Big cats' })],
    },
    refusals: [404, 409],
  })
  async name(
    @CategoryId() id: bigint,
    @JsonBody(NewCategoryBody) { name }: NewCategoryBody,
    @Conditions(presentCategory) condition: Condition<Category> | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { category, isNew } = await this.nameCategory.execute({ id, name, condition });
    if (isNew) reply.code(201).header('location', `${this.context.origin(request)}/v1/categories/${id}`);
    return presentCategory(category);
  }

  @Operation('DELETE /v1/categories/{categoryId}', {
    id: 'deleteCategory',
    scope: 'pets:manage',
    stability: 'beta',
    summary: 'Delete a category',
    description:
      'Deletes the category. While an animal has it, or is being given it, it is refused with 409 `category_in_use`.',
    success: { 204: ['The category has been deleted.'] },
    refusals: [404, 409],
  })
  async remove(
    @CategoryId() id: bigint,
    @Conditions(presentCategory) condition: Condition<Category> | undefined,
  ): Promise<void> {
    await this.deleteCategory.execute({ id, condition });
  }
}
